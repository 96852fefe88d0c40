import { LOST, load, mark, problem } from "./fragments.js";

const form = document.getElementById("audit");
const [look, declare, conclusion, working, auditing, start, busy] =
  ["look", "declare", "conclusion", "working", "auditing", "start", "busy"]
    .map(id => document.getElementById(id));
let current = new AbortController(), submitted = false, opened = false;

// A line of JSON, then the files.
function pack(answers) {
  const said = {}, files = [];
  for (const [name, value] of answers) {
    if (!(value instanceof File)) said[name] = value;
    else if (value.name) files.push([name, value]);
  }
  const sizes = files.map(([name, file]) => [name, file.name, file.size]);
  return new Blob([JSON.stringify({ said, files: sizes }), "\n", ...files.map(([, file]) => file)]);
}

// Send the form with its files; the server keeps neither. Say in `place` that it is at work. Return
// whether the answer is shown: a later question replaces an earlier one.
async function ask(url, target, place, words, answers) {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  working.textContent = auditing.textContent = "";
  rest();
  const body = pack(answers);
  if (body.size > form.dataset.largest) {
    const size = (body.size / 2 ** 20).toFixed(0);
    target.replaceChildren(
      problem(`The file has ${size} MB; at most ${form.dataset.largest >> 20} MB are accepted.`));
    return true;
  }
  place.textContent = words;
  let missing = 0;
  await load(url, target, { method: "POST", body, signal }, wrong => {
    missing = Object.values(wrong).filter(one => one.missing).length;
    mark(form, wrong, true)?.focus();
  });
  if (signal.aborted) return false;
  place.textContent = missing === 0 ? "" : missing === 1 ? "1 answer is missing." : `${missing} answers are missing.`;
  return true;
}

// The button stays where it is and keeps the focus, but starts nothing twice.
function work() {
  busy.hidden = false;
  start.setAttribute("aria-disabled", "true");
}

function rest() {
  busy.hidden = true;
  start.removeAttribute("aria-disabled");
}

// Protected attributes are refused at once, not after all other answers.
async function check() {
  const said = new URLSearchParams([...new FormData(form)].filter(([name]) =>
    declare.querySelector(`[name="${name}"]`)));
  try {
    const response = await fetch(`/audit/check?${said}`);
    if (response.ok) mark(form, await response.json(), submitted);
  } catch {
    conclusion.replaceChildren(problem(LOST));
  }
}

async function read(body) {
  conclusion.replaceChildren();
  declare.hidden = true;
  const file = form.log.files[0];
  if (!file) { look.replaceChildren(); return; }
  const focused = document.activeElement?.id;
  const size = (file.size / 2 ** 20).toFixed(1);
  const words = `Reading ${file.name} (${size} MB) …`;
  if (!await ask("/audit/look", look, working, words, body)) return;
  declare.hidden = !look.querySelector("[data-ready]");
  const reading = document.getElementById("reading");
  if (reading) reading.open ||= opened;  // whoever looks into it goes on looking
  reading?.addEventListener("toggle", () => { opened = reading.open; });
  if (focused) document.getElementById(focused)?.focus();
}

form.addEventListener("change", event => {
  const { target } = event;
  if (target.type === "file" || target.id === "sheet") {  // other columns: guess them again
    const body = new FormData();
    for (const input of [form.log, form.people]) {
      if (input.files[0]) body.set(input.name, input.files[0]);
    }
    if (target.id === "sheet") body.set("sheet", target.value);
    read(body);
  } else if (look.contains(target)) {
    const body = new FormData(form);
    if (target.id === "score")  // another column has another scale
      for (const name of ["scale", "best", "matters"]) body.delete(name);
    read(body);
  } else if (declare.contains(target)) {
    check();
  }
});

form.addEventListener("submit", async event => {
  event.preventDefault();
  if (declare.hidden || !busy.hidden) return;
  const rows = look.querySelector("[data-rows]").dataset.rows;
  const words = `Auditing ${rows} rows …`;
  submitted = true;
  conclusion.replaceChildren();
  const asked = ask("/audit/conclusion", conclusion, auditing, words, new FormData(form));
  work();
  if (!await asked) return;
  rest();
  conclusion.querySelector("#concluded, [role=alert]")?.scrollIntoView();
  conclusion.querySelector("#concluded")?.focus({ preventScroll: true });
});

look.addEventListener("click", event => {
  if (event.target.id !== "add-people") return;
  document.getElementById("judges").open = true;
  form.people.click();
});

// A fictional company's files and declaration, as if somebody had chosen and typed them.
document.getElementById("example").addEventListener("click", async () => {
  try {
    for (const [input, name] of [[form.log, "interviews.xlsx"], [form.people, "people.csv"]]) {
      const chosen = new DataTransfer();
      chosen.items.add(new File([await (await fetch(`/static/example/${name}`)).blob()], name));
      input.files = chosen.files;
    }
  } catch {
    look.replaceChildren(problem(LOST));
    return;
  }
  const body = new FormData();
  for (const input of [form.log, form.people]) body.set(input.name, input.files[0]);
  await read(body);
  for (const field of declare.querySelectorAll("[data-example]")) field.value = field.dataset.example;
  form.protected.value = "no";
  start.scrollIntoView({ block: "center" });
  form.requestSubmit();
});
