// Requests to the server of this page. A newer request of a kind ends the older one.

const open = new Map();
let waiting = 0;

/** Count what is being waited for; the page says whether it is busy. */
export const busy = (change) => {
  waiting += change;
  document.querySelector("main").setAttribute("aria-busy", String(waiting > 0));
};

export class Refused extends Error {}

const answered = async (response) => {
  if (response.ok) return response.json();
  const { error } = await response.json().catch(() => ({}));
  throw new Refused(error || `the server answered ${response.status}`);
};

export const get = async (path) => answered(await fetch(path));

/** The answer; null if a newer request of the same kind was made meanwhile. */
export const post = async (path, body, kind = null) => {
  const control = new AbortController();
  busy(1);
  if (kind !== null) {
    open.get(kind)?.abort();
    open.set(kind, control);
  }
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: control.signal,
    });
    return await answered(response);
  } catch (error) {
    if (error.name === "AbortError") return null;
    if (error instanceof Refused) throw error;
    throw new Refused("the server does not answer; is dragoman serve still running?");
  } finally {
    busy(-1);
    if (kind !== null && open.get(kind) === control) open.delete(kind);
  }
};
