// Filters, lit places and copying. Without this script the page is whole: points and places are links.
"use strict";
const all = (query, root = document) => [...root.querySelectorAll(query)];
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";

function light(points, marks) {
  for (const one of all(".lit")) one.classList.remove("lit");
  for (const id of [...points, ...marks]) document.getElementById(id)?.classList.add("lit");
}

function marksOf(point) {
  return (point.dataset.marks || "").split(" ").filter(Boolean);
}

// Pages that were never on the screen get their height only as they come: at the end of the way it is gone once more.
let goal = null;
document.addEventListener("scrollend", () => {
  goal?.scrollIntoView({ block: "center" });
  goal = null;
}, true);

function show(target) {
  if (!target) return;
  target.closest("details:not([open])")?.setAttribute("open", "");
  goal = target;
  setTimeout(() => (goal = goal === target ? null : goal), 2000);
  target.scrollIntoView({ behavior: calm, block: "center" });
}

for (const point of all(".point")) {
  point.addEventListener("click", (event) => {
    if (event.target.closest("summary, button")) return;
    const marks = marksOf(point);
    const link = event.target.closest("a.place");
    light([point.id], marks);
    if (link) event.preventDefault();
    show(document.getElementById(link ? link.hash.slice(1) : marks.find((id) => document.getElementById(id))));
  });
}

for (const mark of all("a.mark, mark")) {
  const points = mark.dataset.points
    ? mark.dataset.points.split(" ")
    : all(".point").filter((point) => marksOf(point).includes(mark.id)).map((point) => point.id);
  mark.addEventListener("click", (event) => {
    event.preventDefault();
    light(points, [mark.id]);
    const first = document.getElementById(points[0]);
    show(first);
    first?.focus({ preventScroll: true });
  });
}

const filters = document.querySelector(".filters");
if (filters) {
  filters.hidden = false;
  const points = all(".points .point");
  filters.addEventListener("change", () => {
    const wanted = all("select", filters).filter((one) => one.value);
    for (const point of points) point.hidden = wanted.some((one) => point.dataset[one.name] !== one.value);
    const left = points.filter((point) => !point.hidden).length;
    filters.querySelector("output").textContent = `${left} of ${points.length} points`;
  });
  filters.addEventListener("submit", (event) => event.preventDefault());
}

for (const button of all(".copy")) {
  button.hidden = false;
  const name = button.textContent;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copied);
      button.textContent = "Copied";
    } catch {
      const area = document.createElement("textarea");
      area.value = button.dataset.copied;
      document.body.append(area);
      area.select();
      button.textContent = document.execCommand("copy") ? "Copied" : "Not copied: select the text above";
      area.remove();
    }
    setTimeout(() => (button.textContent = name), 2000);
  });
}

addEventListener("hashchange", () => show(document.getElementById(decodeURIComponent(location.hash.slice(1)))));
