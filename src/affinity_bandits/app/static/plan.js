"use strict";
import { LOST, mark as markWrong, problem } from "./fragments.js";

const form = document.getElementById("situation");
const understood = document.getElementById("understood");
const running = document.getElementById("running");
const answer = document.getElementById("answer");
const declare = document.getElementById("declare");
const waiting = document.getElementById("waiting"); // beside the button, wherever it is
const HINT = understood.textContent;
const SOON = 200; // milliseconds after the last key
let timer = null, checking = null, planning = null, submitted = false, kept = false;
let ticking = null; // counts the seconds

function query() {
  const said = new URLSearchParams();
  for (const [name, text] of new FormData(form)) if (text.trim()) said.append(name, text.trim());
  return said;
}

const declared = name => declare.querySelector(`[data-wrong="${name}"]`) !== null;

// Show what is asked and what is wrong; what is missing only after the form was sent, and of the
// declaration only when the plan is to be kept.
function mark(found) {
  for (const field of form.querySelectorAll("[data-field]")) {
    const name = field.dataset.field;
    field.hidden = !(name in found.asked);
    for (const one of field.querySelectorAll("input, select")) one.disabled = field.hidden;
    const label = field.querySelector(".asks");
    if (!field.hidden && label) label.textContent = found.asked[name];
  }
  understood.textContent = found.understood || HINT;
  const refused = form.protected.value === "yes" && "protected" in found.wrong;
  document.getElementById("instead").hidden = !refused;
  if (refused) answer.replaceChildren();
  const wrong = Object.entries(found.wrong).filter(([name, one]) =>
    !one.missing || (declared(name) ? kept : submitted));
  return markWrong(form, Object.fromEntries(wrong), true);
}

async function check() {
  checking?.abort();
  checking = new AbortController();
  try {
    const response = await fetch(`/plan/check?${query()}`, {signal: checking.signal});
    if (!response.ok) return null;
    const found = await response.json();
    mark(found);
    return found;
  } catch (error) {
    if (error.name !== "AbortError") understood.textContent = LOST;
    return null;
  }
}

// While nothing can be measured yet, the bar only moves; the seconds always go on.
function begin() {
  const began = Date.now(), since = document.getElementById("since");
  const tell = () => { since.textContent = `${Math.round((Date.now() - began) / 1000)} s`; };
  clearInterval(ticking);
  ticking = setInterval(tell, 1000);
  tell();
  document.getElementById("found").replaceChildren();
  document.getElementById("words").textContent = "";
  document.getElementById("progress").removeAttribute("value");
  running.hidden = false;
}

// Each way to judge is told once, as soon as it is planned.
function advance(line) {
  const words = document.getElementById("words"), bar = document.getElementById("progress");
  if (words.textContent !== line.words) words.textContent = line.words;
  if (line.part >= 0.01) bar.value = line.part;
  for (const text of line.found) {
    const one = document.createElement("li");
    one.textContent = text;
    document.getElementById("found").append(one);
  }
}

function rest() {
  clearInterval(ticking);
  running.hidden = true;
}

function stop() {
  planning?.abort();
  rest();
  waiting.textContent = "";
}

// Read lines as they come; the last one is the answer.
async function* lines(response) {
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const whole = (rest + part.value).split("\n");
    rest = whole.pop();
    for (const line of whole) yield JSON.parse(line);
  }
}

// Plan; to keep a plan, the declaration must be complete.
async function plan(keep = false) {
  clearTimeout(timer);
  checking?.abort();
  stop();
  submitted = true;
  if (keep) {
    kept = true;
    const found = await check();
    if (found === null || Object.keys(found.wrong).length > 0) {
      if (found !== null) mark(found)?.focus();
      return;
    }
  }
  const mine = planning = new AbortController(), asked = query();
  waiting.textContent = "Planning …";
  try {
    const response = await fetch(`/plan/answer?${asked}`, {signal: mine.signal});
    if (response.status === 422) {
      waiting.textContent = "";
      mark(await response.json())?.focus();
      return;
    }
    history.replaceState(null, "", `/plan?${asked}`);
    answer.classList.add("outdated");
    begin();
    running.scrollIntoView({block: "nearest"});
    for await (const line of lines(response)) {
      if (line.html === undefined) {
        advance(line);
      } else {
        answer.innerHTML = line.html;
        answer.classList.remove("outdated");
        const focus = document.getElementById(keep ? "keep-title" : "verdict");
        focus?.focus();
        focus?.scrollIntoView({block: keep ? "center" : "nearest"});
      }
    }
  } catch (error) {
    if (error.name === "AbortError") return;
    answer.replaceChildren(problem(LOST));
  }
  rest();
  waiting.textContent = "";
}

for (const part of [form, declare])
  part.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(check, SOON);
    if (part === form) answer.classList.add("outdated");
  });
form.addEventListener("submit", event => {
  event.preventDefault();
  plan(event.submitter?.id === "keep");
});
declare.addEventListener("keydown", event => {
  if (event.key !== "Enter" || event.target.type !== "text") return;
  event.preventDefault();
  form.requestSubmit(document.getElementById("keep"));
});
document.getElementById("stop").addEventListener("click", stop);

function step(box) {
  return box.querySelectorAll(".step")[+box.querySelector("input").value];
}

answer.addEventListener("input", event => {
  const box = event.target.closest(".what-if"), chosen = step(box);
  for (const one of box.querySelectorAll(".step")) one.hidden = one !== chosen;
  event.target.setAttribute("aria-valuetext", chosen.dataset.title);
});
answer.addEventListener("click", event => {
  const box = event.target.closest(".again")?.closest(".what-if");
  if (!box) return;
  form.elements[box.dataset.name].value = step(box).dataset.said;
  check();
  plan();
});

const found = await check();
if (found !== null && location.search !== "" && !Object.entries(found.wrong).some(([name, one]) => !(one.missing && declared(name)))) plan();
