// Pages work without this script. With it, answers change while values are typed, sliders move, and keys label rows.
"use strict";

// Ask: read the page for the values of the form, and take its answer. The address follows.
const ask = document.getElementById("ask");
if (ask) {
  let timer = 0, latest = 0;
  const update = async () => {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(ask)) if (value.trim()) query.append(name, value);
    const address = ask.action + (query.size ? "?" + query : "");
    const turn = ++latest;
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    if (turn !== latest) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const answer = page.getElementById("answer");
    if (!answer) { ask.submit(); return; }
    document.getElementById("answer").replaceWith(document.adoptNode(answer));
    history.replaceState(null, "", address);
    const next = page.getElementById("f-next");
    for (const field of ask.querySelectorAll(".field")) {
      const input = field.querySelector("input, select, textarea");
      const isNext = next !== null && input.name === next.name;
      field.classList.toggle("next", isNext);
      field.querySelector(".tag")?.remove();
      if (input.id === "f-next") input.id = "f-" + input.name;
      if (isNext) {
        input.id = "f-next";
        const tag = document.createElement("span");
        tag.className = "tag";
        tag.textContent = "next best question";
        field.querySelector("label").append(" ", tag);
      }
      field.querySelector("label").htmlFor = input.id;
    }
  };
  const soon = (delay) => { clearTimeout(timer); timer = setTimeout(update, delay); };
  ask.addEventListener("input", () => soon(350));
  ask.addEventListener("change", () => soon(0));
}

// Nomogram: add up the points of the sliders. The table of points is the data; the server draws the picture.
const nomogram = document.getElementById("nomogram");
if (nomogram) {
  const points = [], marks = [];
  for (const row of document.querySelectorAll("#points-table tr[data-axis]")) {
    const axis = Number(row.dataset.axis);
    (points[axis] ??= []).push(Number(row.querySelector("data").value));
    (marks[axis] ??= []).push(row.children[1].textContent);
  }
  const { start, unit } = nomogram.dataset;
  const shown = (p) => p >= 0.9995 && p < 1 ? "> 99.9 %" : p > 0 && p < 0.0005 ? "< 0.1 %" : (100 * p).toFixed(1) + " %";
  const sliders = [...nomogram.querySelectorAll("input[type=range]")];
  const constant = points.reduce((sum, axis) => sum + axis[0], 0) - sliders.reduce((sum, s) => sum + points[s.dataset.axis][0], 0);
  let timer = 0;
  nomogram.addEventListener("input", (event) => {
    const slider = event.target;
    const mark = marks[slider.dataset.axis][slider.value];
    slider.previousElementSibling.textContent = mark;
    slider.setAttribute("aria-valuetext", mark);
    const total = sliders.reduce((sum, s) => sum + points[s.dataset.axis][s.value], constant);
    document.getElementById("points").textContent = total.toFixed(1);
    document.getElementById("probability").textContent = shown(1 / (1 + Math.exp(-(Number(start) + total / Number(unit)))));
    clearTimeout(timer);
    timer = setTimeout(redraw, 200);
  });
  const redraw = async () => {
    const address = nomogram.action + "?" + new URLSearchParams(new FormData(nomogram));
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    if (!page.getElementById("probability")) return;
    for (const part of ["figure", "#probability", "#points", "#ask-these"]) {
      document.querySelector(part).replaceWith(document.adoptNode(page.querySelector(part)));
    }
    history.replaceState(null, "", address);
  };
}

// Label: keys 1 to 9 choose a class, s skips, u undoes. A key counts once.
let isSent = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isSent) return;
  if (event.target.closest("input, select, textarea")) return;
  const target = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!target) return;
  event.preventDefault();
  isSent = true;
  target.click();
});
window.addEventListener("pageshow", () => { isSent = false; });
