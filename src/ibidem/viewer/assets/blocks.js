// Long texts in blocks: a browser lays out only those near what is seen. Where the others are is estimated until then.
(function (ibidem) {
  "use strict";

  const LONG = 60_000; // characters; shorter texts are not divided
  const SIZE = 3_000;
  const WIDE = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uff60]/g;
  const SAMPLE = 2_000;
  const isSupported = CSS.supports("content-visibility", "auto") && "oncontentvisibilityautostatechange" in window;

  // Where blocks of a text end, in characters: after a line break. There is none in a short text.
  function boundsOf(text) {
    const nChars = text.segments.reduce((sum, segment) => sum + segment.text.length, 0);
    return isSupported && nChars >= LONG ? text.segments.flatMap((segment) => ibidem.lineEnds(segment, SIZE)) : [];
  }

  // `made` are the elements of the blocks, and `bounds` where all but the last end. `changed()` is called when blocks were laid
  // out, or no longer are. Returns { fit(), boxes(origin), isLaidOut(element), placeOf(character) }.
  function blocks(element, made, bounds, nChars, changed) {
    const laidOut = new Set();
    let fitted = 0;
    let line = 0;
    let tops = [];
    element.addEventListener(
      "contentvisibilityautostatechange",
      (event) => {
        if (event.skipped) laidOut.delete(event.target);
        else laidOut.add(event.target);
        changed();
      },
      true,
    );

    // Estimates the height of every block from the length of its lines; once it was laid out, the browser knows better.
    function fit() {
      const width = element.clientWidth;
      if (!width || width === fitted) return;
      fitted = width;
      const style = getComputedStyle(element);
      line = parseFloat(style.lineHeight) || 28;
      const sample = made[0].textContent.slice(0, SAMPLE);
      const perLetter = parseFloat(style.fontSize) * (0.5 + 0.5 * ((sample.match(WIDE) || []).length / Math.max(1, sample.length)));
      const perLine = Math.max(1, (width - 10) / perLetter);
      for (const block of made) {
        let nLines = 0;
        for (const each of block.textContent.split("\n")) nLines += Math.max(1, Math.ceil(each.length / perLine));
        block.style.setProperty("contain-intrinsic-block-size", `auto ${Math.round((nLines - 1) * line)}px`);
      }
    }

    const edges = [0, ...bounds, Math.max(nChars, bounds[bounds.length - 1] + 1)];
    return {
      fit,
      // Reads where the blocks are; `origin` is the beginning of the text.
      read(origin) {
        tops = made.map((block) => {
          const box = block.getBoundingClientRect();
          return [box.top + origin, box.height];
        });
      },
      isLaidOut: (one) => laidOut.has(one.closest(".block")),
      // The estimated line of a character, as [top, bottom].
      placeOf(character) {
        let [low, high] = [0, made.length - 1];
        while (low < high) {
          const middle = (low + high + 1) >> 1;
          if (edges[middle] <= character) low = middle;
          else high = middle - 1;
        }
        const share = Math.min(1, (character - edges[low]) / (edges[low + 1] - edges[low]));
        const top = tops[low][0] + share * Math.max(0, tops[low][1] - line);
        return [top, top + line];
      },
    };
  }

  Object.assign(ibidem, { blocks, boundsOf });
})(window.ibidem);
