/** Hands on what a reader types. @param {(text: string) => void} set */
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
