/** Returns a listener that passes the field's value to `set`. @param {(text: string) => void} set */
export const typed =
  (set) =>
  (/** @type {Event} */ { currentTarget }) => {
    if (
      currentTarget instanceof HTMLInputElement ||
      currentTarget instanceof HTMLTextAreaElement ||
      currentTarget instanceof HTMLSelectElement
    )
      set(currentTarget.value)
  }
