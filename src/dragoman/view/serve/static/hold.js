// A slider that is held may not be drawn anew under the pointer; what came meanwhile is drawn once it is let go.

/** A function that says whether drawing has to wait; `draw` is called then, when the slider inside `box` is let go. */
export const holding = (box, draw) => {
  let slider = null;
  let late = false;
  box.addEventListener("pointerdown", (event) => (slider = event.target.closest("input[type=range]")));
  for (const kind of ["pointerup", "pointercancel"]) {
    addEventListener(kind, () => {
      slider = null;
      if (late) setTimeout(draw); // after the change that the slider tells
    });
  }
  return () => (late = slider !== null && slider.isConnected);
};
