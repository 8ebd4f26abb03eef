// Calls the API of the server that sent this page.
import { el } from "./dom.js";

export class ApiError extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

const askForKey = () => new Promise(resolve => {
  const field = el("input", { type: "password", autocomplete: "off" });
  const dialog = el("dialog", { "aria-labelledby": "key-title" }, el("form", { method: "dialog" },
    el("h2", { id: "key-title" }, "This server needs a key"),
    el("label", {}, "API key", field),
    el("p", { class: "actions" },
      el("button", { value: "ok" }, "Use this key"), el("button", { value: "", class: "quiet" }, "Cancel"))));
  dialog.addEventListener("close", () => {
    dialog.remove();
    resolve(dialog.returnValue === "ok" ? field.value : "");
  }, { once: true });
  document.body.append(dialog);
  dialog.showModal();
});

let keyRequest = null;

// Whether this server needs a key: then a plain link to a picture would be refused.
export const hasKey = () => Boolean(sessionStorage.getItem("taxkg-key"));

const call = async (path, options = {}) => {
  const key = sessionStorage.getItem("taxkg-key");
  let reply;
  try {
    reply = await fetch(path, { ...options, headers: { ...options.headers, ...(key && { "x-api-key": key }) } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server cannot be reached. Check that taxkg serve is running, then try again.");
  }
  if (reply.status === 401) {
    keyRequest ??= askForKey().finally(() => { keyRequest = null; });
    const given = await keyRequest;
    if (given) {
      sessionStorage.setItem("taxkg-key", given);
      return call(path, options);
    }
  }
  if (!reply.ok) throw new ApiError(await readProblem(reply), reply.status);
  return reply;
};

const readProblem = async reply => {
  try {
    const { detail } = await reply.json();
    return typeof detail === "string" ? detail : detail.map(problem => problem.msg).join("; ");
  } catch {
    return `The server answered with status ${reply.status}. Its log says more.`;
  }
};

export const getJson = async (path, signal) => (await call(path, { signal })).json();

// A page's picture and the page's size in points.
export const getPagePicture = async (path, signal) => {
  const reply = await call(path, { signal });
  const size = { width: Number(reply.headers.get("x-page-width")), height: Number(reply.headers.get("x-page-height")) };
  return { source: URL.createObjectURL(await reply.blob()), size };
};

export const postJson = async (path, body, signal) => (await call(path, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
  signal,
})).json();

let library = null;

// What the library holds in few words; read once for each visit.
export const getLibrary = async () => {
  library ??= getJson("v1/library");
  try {
    return await library;
  } catch (error) {
    library = null;
    throw error;
  }
};

let documents = null;

// Every document of the release by its id; read once for each visit.
export const getDocuments = async () => {
  documents ??= getJson("v1/documents").then(rows => new Map(rows.map(row => [row.document, row])));
  try {
    return await documents;
  } catch (error) {
    documents = null;
    throw error;
  }
};

export const documentPath = (document, page) =>
  `v1/documents/${encodeURIComponent(document)}${page ? `/pages/${page}` : ""}`;
