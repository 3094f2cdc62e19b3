"use strict";
(() => {
  const form = document.querySelector("form"), list = document.getElementById("list");
  if (!form) return;
  const files = [...list.querySelectorAll(".file")].map((element) => [element, [...element.querySelectorAll("article")]]);
  const texts = new Map(), told = document.getElementById("told");
  const text = (article) => {
    if (!texts.has(article)) texts.set(article, article.textContent.toLowerCase());
    return texts.get(article);
  };
  const apply = () => {
    const wanted = ["code", "kind", "folder"].map((name) => [name, form.elements[name].value]).filter(([, value]) => value);
    const fresh = form.elements.fresh && form.elements.fresh.checked, words = form.elements.words.value.toLowerCase();
    let shown = 0, all = 0;
    for (const [file, articles] of files) {
      const path = file.dataset.path.toLowerCase();
      let here = 0;
      for (const article of articles) {
        const fits = wanted.every(([name, value]) => (name === "folder" ? file : article).dataset[name] === value)
          && !(fresh && "known" in article.dataset) && (!words || path.includes(words) || text(article).includes(words));
        article.hidden = !fits;
        here += fits;
      }
      file.hidden = !here;
      shown += here;
      all += articles.length;
    }
    told.textContent = `${shown} of ${all} findings shown`;
  };
  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(apply, 150); };
  form.addEventListener("input", soon);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  for (const button of document.querySelectorAll("button[data-name]")) {
    button.disabled = false;
    button.addEventListener("click", () => {
      form.reset();
      form.elements[button.dataset.name].value = button.dataset.value;
      apply();
      form.elements[button.dataset.name].focus();
      document.getElementById("findings").scrollIntoView();
    });
  }
  form.hidden = false;
})();
