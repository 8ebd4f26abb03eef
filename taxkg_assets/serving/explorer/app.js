// Routes: every state of the page has an address, and the address alone decides what is shown.
import { ApiError, getJson, getLibrary } from "./api.js";
import { showAsk, showFailure } from "./ask_view.js";
import { address, el } from "./dom.js";
import { showStart } from "./library_views.js";

// A view is loaded when it is first shown, so that the first page stays small.
const lazy = (file, name) => async (...given) => (await import(file))[name](...given);

const VIEWS = {
  documents: lazy("./library_views.js", "showDocuments"),
  document: lazy("./document_view.js", "showDocument"),
  forms: lazy("./form_views.js", "showForms"),
  form: lazy("./form_views.js", "showForm"),
  trace: lazy("./trace_view.js", "showTrace"),
  compare: lazy("./compare_view.js", "showCompare"),
  changes: lazy("./changes_view.js", "showChanges"),
  verify: lazy("./verify_view.js", "showVerify"),
};

const PARENTS = { document: "documents", form: "forms" };

const showUnknown = async (_, { view: name }) => {
  throw new ApiError(`The explorer has no view “${name}”. Choose one above.`, 404);
};

const view = document.getElementById("view");
const form = document.getElementById("ask");
let current = new AbortController();

const readAddress = () => Object.fromEntries(new URLSearchParams(location.search));

const navigate = params => {
  history.pushState(null, "", address(params));
  render({ isMoved: true });
};

const replace = params => history.replaceState(null, "", address(params));

const fillQuestion = params => {
  for (const name of ["q", "form", "year"]) form.elements[name].value = params.view ? "" : params[name] ?? "";
};

const markNavigation = params => {
  for (const item of document.querySelectorAll("nav a")) {
    const own = new URL(item.href).searchParams.get("view");
    const isHere = Boolean(params.view) && (own === params.view || own === PARENTS[params.view]);
    if (isHere) item.setAttribute("aria-current", "page");
    else item.removeAttribute("aria-current");
    // On a narrow screen the sections scroll sideways.
    if (isHere) item.parentNode.scrollLeft = item.offsetLeft - item.parentNode.offsetLeft - 40;
  }
};

const render = async ({ isMoved = false } = {}) => {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const params = readAddress();
  fillQuestion(params);
  markNavigation(params);
  const show = params.q?.trim() ? showAsk : params.view ? VIEWS[params.view] ?? showUnknown : showStart;
  // Each address writes into a stage of its own, so a late reply cannot overwrite a newer state.
  const stage = el("div", {}, el("p", { class: "soft" }, "Loading …"));
  view.replaceChildren(stage);
  try {
    await show(stage, params, { signal, navigate, replace, retry: () => render() });
  } catch (error) {
    if (error.name === "AbortError" || signal.aborted) return;
    showFailure(stage, error, () => render());
  }
  if (isMoved && !signal.aborted) {
    window.scrollTo(0, 0);
    (view.querySelector("h1") ?? view).focus({ preventScroll: true });
  }
};

form.addEventListener("submit", event => {
  event.preventDefault();
  const requested = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));
  if (!requested.q) {
    form.elements.q.focus();
    return;
  }
  navigate(requested);
});

document.addEventListener("click", event => {
  const target = event.target.closest("a[data-route]");
  if (!target || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  document.querySelector("dialog[open]")?.close();
  history.pushState(null, "", target.getAttribute("href"));
  render({ isMoved: true });
});

window.addEventListener("popstate", () => render({ isMoved: true }));

const showServed = async () => {
  const served = await getJson("healthz");
  document.getElementById("served").textContent =
    `${served.documents} documents · ${served.passages.toLocaleString("en-US")} passages · release of ${served.released_at.slice(0, 10)}`;
  const { forms, years } = await getLibrary();
  document.getElementById("known-forms").append(...forms.map(value => el("option", { value })));
  document.getElementById("known-years").append(...years.map(value => el("option", { value })));
};

render();
showServed().catch(() => {});
