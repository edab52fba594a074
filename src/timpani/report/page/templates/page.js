"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  // Pixels of a plot with axes and the names of its curves; below, the style sheet makes a figure smaller as a whole.
  const narrowest = (names) => Math.min(480, names.length ? 240 + 7 * Math.max(...names.map((name) => name.length)) : 480);
  const narrowestPanel = 120; // of a figure of several

  // Tables travel as columns; figures want rows, and only those of their collective.
  const byCollective = new Map();
  for (const [name, columns] of Object.entries(data.tables)) {
    const fields = Object.entries(columns).map(([field, column]) => [
      field,
      Array.isArray(column) ? (i) => column[i] : (i) => column.values[column.rows[i]],
    ]);
    const length = columns.collective.rows.length;
    for (let i = 0; i < length; i++) {
      const row = {};
      for (const [field, at] of fields) row[field] = at(i);
      const key = JSON.stringify([name, row.collective]);
      if (!byCollective.has(key)) byCollective.set(key, []);
      byCollective.get(key).push(row);
    }
  }

  // Legends have columns for the full width.
  function narrowLegends(part, share) {
    for (const [key, value] of Object.entries(part)) {
      if (value === null || typeof value !== "object") continue;
      if (key === "legend" && value.columns) value.columns = Math.max(1, Math.floor(value.columns * share));
      narrowLegends(value, share);
    }
  }

  class Figure {
    constructor(element) {
      this.element = element;
      this.chart = element.querySelector(".chart");
      this.panel = data.panels[element.dataset.panel];
      const rows = byCollective.get(JSON.stringify([this.panel.table, this.panel.collective])) ?? [];
      this.rows = rows.filter((row) => this.panel.labels?.includes(row.label) ?? true);
      this.selects = [...element.querySelectorAll("select")];
      this.boxes = [...element.querySelectorAll(".algorithms input")];
      this.undecided = element.querySelector(".undecided");
      this.linear = element.querySelector("input[data-linear]");
      this.drawing = Promise.resolve();
      element.addEventListener("change", () => this.draw());
      for (const button of element.querySelectorAll("[data-switch]"))
        button.addEventListener("click", () => {
          for (const box of this.boxes) box.checked = button.dataset.switch === "all";
          this.draw();
        });
    }

    shown() {
      const off = new Set(this.boxes.filter((box) => !box.checked).map((box) => box.value));
      return this.rows.filter(
        (row) => this.selects.every((select) => String(row[select.dataset.column]) === select.value) && !off.has(row.label),
      );
    }

    // Rows of panels in which something is decided; the others become a line of text.
    decided() {
      const rows = this.shown();
      const column = this.panel.decided_by;
      if (!column) return rows;
      const compared = rows.filter((row) => row[this.panel.measure] !== null);
      const decided = new Set(compared.filter((row) => row[column]).map((row) => row.label));
      const rest = [...new Set(compared.map((row) => row.label))].filter((label) => !decided.has(label));
      this.undecided.hidden = rest.length === 0;
      this.undecided.querySelector("span").textContent = rest.sort().join(", ");
      return compared.filter((row) => decided.has(row.label));
    }

    fitted(rows) {
      const specification = structuredClone(this.linear?.checked ? this.panel.linear : this.panel.specification);
      const available = this.chart.clientWidth;
      const width = Math.max(available, narrowest(this.boxes.map((box) => box.value)));
      if (width < data.full_width) narrowLegends(specification, width / data.full_width);
      specification.data = { values: rows };
      if (specification.facet) {
        const drawn = specification.data.values.filter((row) => row[this.panel.measure] !== null);
        const panels = new Set(drawn.map((row) => row[specification.facet.field])).size;
        const lines = Math.max(1, Math.ceil(panels / Math.max(1, Math.floor(available / 220))));
        specification.columns = Math.max(1, Math.ceil(panels / lines));
        specification.spec.width = Math.floor(available / specification.columns);
      } else if (specification.width >= data.full_width) {
        // a map of a few columns keeps its own width
        specification.width = width;
        specification.autosize = { type: "fit-x", contains: "padding" };
      }
      return specification;
    }

    draw() {
      this.drawing = this.drawing.then(async () => {
        this.width = this.chart.clientWidth;
        const rows = this.decided();
        if (this.panel.decided_by && rows.length === 0) {
          this.chart.replaceChildren();
          return;
        }
        const specification = this.fitted(rows);
        await this.show(specification);
        // The width of axes and gaps is known only after drawing, and it depends a little on the width of the panels.
        for (let turn = 0; specification.facet && turn < 3; ++turn) {
          const beyond = this.chart.querySelector("svg").width.baseVal.value - this.width;
          if (beyond <= 0) break;
          const narrower = specification.spec.width - Math.ceil(beyond / specification.columns);
          specification.spec.width = Math.max(narrowestPanel, narrower);
          await this.show(specification);
        }
      });
      return this.drawing;
    }

    async show(specification) {
      this.view?.finalize();
      this.view = await vegaEmbed(this.chart, specification, {
        renderer: "svg",
        actions: false,
        defaultStyle: false,
        tooltip: { theme: "custom", disableDefaultStyle: true },
        logLevel: 1, // errors: a layer without points, such as no failed cell, is no news
      });
    }
  }

  const figures = [...document.querySelectorAll("figure[data-panel]")].map((element) => new Figure(element));

  async function drawAll() {
    for (const figure of figures) {
      if (figure.chart.clientWidth) await figure.draw(); // else it stands in a closed section
      await new Promise((resolve) => setTimeout(resolve)); // lets the page answer in between
    }
    document.documentElement.dataset.drawn = "true";
  }
  drawAll();
  addEventListener(
    "toggle",
    (event) => {
      for (const figure of figures) if (figure.width === undefined && event.target.contains(figure.element)) figure.draw();
    },
    true,
  );

  let pending;
  addEventListener("resize", () => {
    clearTimeout(pending);
    pending = setTimeout(() => {
      for (const figure of figures) if (figure.width !== undefined && figure.width !== figure.chart.clientWidth) figure.draw();
    }, 200);
  });

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open], .closed)")];
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });

  document.getElementById("copy").addEventListener("click", async () => {
    const methods = document.getElementById("methods-text");
    let done = "copied";
    try {
      await navigator.clipboard.writeText(methods.textContent);
    } catch {
      getSelection().selectAllChildren(methods); // no clipboard here: the reader copies what is now selected
      done = "selected";
    }
    document.getElementById("copied").textContent = done;
  });
})();
