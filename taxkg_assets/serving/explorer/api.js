// Calls the API of the server that sent this page.
export class ApiError extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

const askForKey = () => new Promise(resolve => {
  const dialog = document.getElementById("key-dialog");
  const field = document.getElementById("key");
  field.value = "";
  dialog.returnValue = "";
  dialog.addEventListener("close", () => resolve(dialog.returnValue === "ok" ? field.value : ""), { once: true });
  dialog.showModal();
});

let keyRequest = null;

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

export const getImage = async (path, signal) => URL.createObjectURL(await (await call(path, { signal })).blob());

export const postJson = async (path, body, signal) => (await call(path, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
  signal,
})).json();

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
