// On a phone a picture is as wide as the page, which makes its letters small; a button shows it larger.

import { element } from "./dom.js";

const PICTURES = ".cell_output img.figure, .prediction-result > img";

/**
 * Put the button below every picture that has none yet; site.css shows it on a phone alone.
 * @param {HTMLElement} place
 */
export function offerLarger(place) {
  for (const picture of place.querySelectorAll(PICTURES)) {
    if (picture.nextElementSibling?.matches(".enlarge") || picture.closest(".recorded, picture:has(source)")) continue;
    const button = element("button", { type: "button", class: "enlarge", "aria-pressed": "false" }, "Larger");
    button.addEventListener("click", () => {
      const large = picture.classList.toggle("large");
      button.setAttribute("aria-pressed", String(large));
    });
    picture.after(button);
  }
}
