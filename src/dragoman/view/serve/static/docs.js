// The routes of /openapi.json, without anybody's scripts.
import { get } from "./api.js";
import { el, table } from "./dom.js";

const typeOf = (schema, all) => {
  if (schema.$ref) return all[schema.$ref.split("/").pop()].enum?.join(" | ") ?? "object";
  if (schema.anyOf) return schema.anyOf.map((part) => typeOf(part, all)).join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items, all)}`;
  return schema.type ?? "anything";
};

/** Text whose parts between backticks are code. */
const prose = (text) => text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));

const fields = (schema, all) =>
  table(
    ["field", "type", "default", "meaning"],
    Object.entries(schema.properties).map(([name, property]) =>
      el(
        "tr",
        {},
        el("td", {}, el("code", {}, name), schema.required?.includes(name) ? " *" : ""),
        el("td", {}, typeOf(property, all)),
        el("td", {}, property.default === undefined ? "" : JSON.stringify(property.default)),
        el("td", {}, property.description ?? ""),
      ),
    ),
    { label: "Fields of the body" },
  );

const start = async () => {
  const api = await get("/openapi.json");
  const all = api.components.schemas;
  const shown = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => {
      const body = route.requestBody?.content?.["application/json"]?.schema;
      const schema = body?.$ref ? all[body.$ref.split("/").pop()] : body;
      return el(
        "section",
        { class: "card route" },
        el("h2", {}, el("code", {}, `${method.toUpperCase()} ${path}`)),
        el("p", {}, prose(route.description ?? "")),
        schema ? fields(schema, all) : null,
      );
    }),
  );
  document.getElementById("paths").replaceChildren(...shown, el("p", { class: "soft" }, "* must be given. Errors are {\"error\": \"…\"}."));
};

start();
