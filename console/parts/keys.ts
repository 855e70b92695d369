/**
 * Whether a key is free for the page: no text is being written, no dialog is open, and it is no shortcut of the browser.
 */
export const isFree = ({ target, metaKey, ctrlKey, altKey }: KeyboardEvent) =>
  !(metaKey || ctrlKey || altKey || document.querySelector('dialog[open]') !== null) &&
  !(target instanceof Element && target.matches('input:not([type=checkbox]), textarea, select'))
