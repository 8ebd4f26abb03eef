// The API reference, drawn from the server's own OpenAPI document.
import { getJson } from "./api.js";
import { el } from "./dom.js";

const view = document.getElementById("view");

const nameOf = reference => reference.split("/").at(-1);

const typeOf = schema => {
  if (!schema) return "";
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  return schema.type ?? "object";
};

const limitsOf = schema => {
  const own = schema?.anyOf?.find(option => option.type !== "null") ?? schema ?? {};
  const limits = [];
  const range = [own.minimum !== undefined && `from ${own.minimum}`, own.maximum !== undefined && `to ${own.maximum}`].filter(Boolean);
  if (range.length) limits.push(range.join(" "));
  if (own.maxLength !== undefined) limits.push(`${own.maxLength} characters at most`);
  if (schema?.default !== undefined && schema.default !== null) limits.push(`default ${JSON.stringify(schema.default)}`);
  return limits.join(", ");
};

const fieldTable = rows => el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Fields" }, el("table", { class: "list" },
  el("thead", {}, el("tr", {}, ["Name", "Type", "Meaning"].map(name => el("th", { scope: "col" }, name)))),
  el("tbody", {}, rows.map(({ name, schema, description, required }) => el("tr", {},
    el("td", {}, el("code", {}, name), required ? " *" : ""), el("td", {}, typeOf(schema)),
    el("td", {}, [description ?? schema?.description ?? "", limitsOf(schema)].filter(Boolean).join("; ")))))));

const modelTable = schema => fieldTable(Object.entries(schema.properties ?? {}).map(([name, own]) => ({
  name, schema: own, required: schema.required?.includes(name),
})));

const referencesIn = (schema, found = new Set()) => {
  JSON.stringify(schema ?? {}, (key, value) => {
    if (key === "$ref") found.add(nameOf(value));
    return value;
  });
  return found;
};

const quoted = value => `'${value.replaceAll("'", "'\\''")}'`;

// The call with its required parameters and its example body, as one types it.
const commandOf = (path, own) => {
  const given = (own.parameters ?? []).filter(one => one.required);
  const filled = given.filter(one => one.in === "path")
    .reduce((text, one) => text.replace(`{${one.name}}`, encodeURIComponent(one.example)), path);
  const query = new URLSearchParams(given.filter(one => one.in === "query").map(one => [one.name, one.example])).toString();
  const address = `${new URL(".", location.href).href.replace(/\/$/, "")}${filled}${query && `?${query}`}`;
  const body = own.requestBody?.content?.["application/json"]?.example;
  return `curl -s ${quoted(address)}${body ? ` -H 'content-type: application/json' -d ${quoted(JSON.stringify(body))}` : ""}`;
};

const operation = (path, method, own, models) => {
  const body = own.requestBody?.content?.["application/json"]?.schema;
  const reply = own.responses?.["200"]?.content?.["application/json"]?.schema;
  const parts = [el("h2", {}, el("code", {}, `${method.toUpperCase()} ${path}`)), el("p", {}, own.description || own.summary)];
  if (own.parameters?.length) {
    parts.push(el("h3", {}, "Parameters"), fieldTable(own.parameters.map(one => ({ ...one, required: one.required }))));
  }
  parts.push(el("h3", {}, "Example"), el("pre", {}, el("code", {}, commandOf(path, own))));
  if (body?.$ref) parts.push(el("h3", {}, `Body: ${nameOf(body.$ref)}`), modelTable(models[nameOf(body.$ref)]));
  if (reply) {
    parts.push(el("h3", {}, "Reply"), el("p", {}, typeOf(reply)));
    for (const name of referencesIn(reply)) {
      parts.push(el("details", {}, el("summary", {}, name), modelTable(models[name] ?? {})));
    }
  }
  const errors = Object.entries(own.responses ?? {}).filter(([status]) => status >= "400");
  parts.push(el("details", {}, el("summary", {}, `Errors (${errors.map(([status]) => status).join(", ")})`),
    el("dl", {}, errors.map(([status, reason]) => [el("dt", {}, status), el("dd", {}, reason.description)]))));
  return el("section", { class: "card", id: anchorOf(path, method) }, parts);
};

const anchorOf = (path, method) => `${method}${path.replaceAll(/[^a-z0-9]+/gi, "-")}`;

const show = async () => {
  const described = await getJson("openapi.json");
  const models = described.components?.schemas ?? {};
  const contents = el("ul", { class: "chips" }, Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => el("li", {}, el("a", { href: `#${anchorOf(path, method)}` }, `${method.toUpperCase()} ${path}`)))));
  const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, own]) => operation(path, method, own, models)));
  view.replaceChildren(
    el("h1", {}, "HTTP API"), el("p", {}, described.info.description),
    el("p", {}, "The machine-readable description is ", el("a", { href: "openapi.json" }, "openapi.json"),
      ". Where the server has a key, send it as X-API-Key or as a bearer token. Errors come as {\"detail\": …, \"code\": …} with the reason in one sentence. " +
      "The tools for agents (Model Context Protocol) are at /mcp. Fields marked * are required."),
    contents, ...operations);
};

show().catch(error => view.replaceChildren(el("p", { class: "card answer failed", role: "alert" }, error.message)));
