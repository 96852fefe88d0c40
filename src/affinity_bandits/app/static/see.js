"use strict";
import { LOST, problem } from "./fragments.js";

const form = document.getElementById("world");
const why = document.getElementById("why");
const groups = document.getElementById("groups");
const SOON = 60; // milliseconds: a slider that is dragged asks when it rests
const SLOW = 1500;
const PREPARING = "The simulation is being prepared, which takes about a minute the first time on a machine.";
const MEANWHILE = "Meanwhile, this is an example.";
let timer = null, pending = null;

function say(sentences) {
  why.replaceChildren(...sentences.map(words => {
    const line = document.createElement("p");
    line.textContent = words;
    return line;
  }));
}

function label() {
  for (const slider of form.querySelectorAll("input[type=range]"))
    slider.parentElement.querySelector("output").textContent = slider.value + slider.dataset.unit;
  for (const group of groups.children) {
    const [name, value, members] = [...group.querySelectorAll("input")].map(one => one.value);
    group.querySelector("summary strong").textContent = name;
    group.querySelector("summary span").textContent = `worth ${value}, ${members} seats`;
  }
  document.getElementById("more").hidden = groups.children.length >= +groups.dataset.most;
  document.getElementById("fewer").hidden = groups.children.length <= 2;
}

// Nobody waits in front of an empty page while loops are compiled.
async function prepare(signal) {
  say([PREPARING]);
  if (document.querySelector("#courses path")) return;
  const example = await (await fetch("/static/example.json", {signal})).json();
  if (signal.aborted || document.querySelector("#courses path")) return;
  drawCourses(example.drawn);
  say([PREPARING, MEANWHILE, ...example.why]);
}

async function run() {
  const query = new URLSearchParams(new FormData(form));
  pending?.abort();
  const mine = pending = new AbortController();
  const slow = setTimeout(() => prepare(mine.signal).catch(() => {}), SLOW);
  try {
    const response = await fetch(`/see/course?${query}`, {signal: mine.signal});
    if (response.ok) {
      const found = await response.json();
      drawCourses(found.drawn);
      say(found.why);
      history.replaceState(null, "", `/see?${query}`);
      const names = found.drawn.groups.map(name => name.replaceAll(",", " ")).join(", ");
      const taken = new URLSearchParams({groups: names, bonus: `${query.get("bonus")}%`});
      document.getElementById("to-plan").href = `/plan?${taken}`;
    } else {
      why.innerHTML = await response.text();
    }
  } catch (error) {
    if (error.name !== "AbortError") why.replaceChildren(problem(LOST));
  } finally {
    clearTimeout(slow);
  }
}

function change() {
  label();
  clearTimeout(timer);
  timer = setTimeout(run, SOON);
}

document.getElementById("more").addEventListener("click", () => {
  const number = groups.children.length + 1;
  const added = groups.lastElementChild.cloneNode(true);
  for (const one of added.querySelectorAll("[id], [for]"))
    for (const name of ["id", "for"])
      if (one.hasAttribute(name)) one.setAttribute(name, one.getAttribute(name).replace(/\d+$/, number));
  added.querySelector("legend").textContent = added.querySelector("label").textContent = `Group ${number}`;
  added.querySelector("input[type=text]").value = `group ${number}`;
  groups.append(added);
  change();
});
document.getElementById("fewer").addEventListener("click", () => {
  groups.lastElementChild.remove();
  change();
});
// Where there is room, nothing is folded.
if (matchMedia("(min-width: 60rem)").matches) for (const one of groups.querySelectorAll("details")) one.open = true;
form.addEventListener("input", change);
form.addEventListener("submit", event => { event.preventDefault(); change(); });
label();
run();
