/**
 * @typedef {object} Image of a message, by one of these
 * @property {string} [image_id] of a session's image
 * @property {string} [image_url] a data URL, or an address elsewhere, which is not loaded
 * @property {string} [mime_type]
 * @property {number} [bytes] its size
 * @property {string} [detail]
 * @property {string} [filename]
 * @property {number} [key] of one that is attached
 */

/** The images among the parts of a message. @param {unknown} parts @returns {readonly Image[]} */
export const imagesIn = (parts) => (Array.isArray(parts) ? parts.filter(({ type }) => type === 'input_image') : [])

/** What was said in a turn; of images alone, how many they are. @param {{ input_text?: unknown, input?: unknown }} started payload of its first event */
export const inputTextOf = ({ input_text, input }) => {
  const { length } = imagesIn(input)
  return String(input_text || (length > 1 ? `${length} images` : length === 1 ? 'An image' : ''))
}
