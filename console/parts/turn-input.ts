/** of a message, by one of these */
export interface Image {
  /** of a session's image */
  readonly image_id?: string
  /** a data URL, or an address elsewhere, which is not loaded */
  readonly image_url?: string
  readonly mime_type?: string
  /** its size */
  readonly bytes?: number
  readonly detail?: string
  readonly filename?: string
  /** of one that is attached */
  readonly key?: number
}

/** The images among the parts of a message. */
export const imagesIn = (parts: unknown): readonly Image[] =>
  Array.isArray(parts) ? parts.filter(({ type }) => type === 'input_image') : []

/** What was said in a turn; of images alone, how many they are. @param started payload of its first event */
export const inputTextOf = ({ input_text, input }: { input_text?: unknown; input?: unknown }) => {
  const { length } = imagesIn(input)
  return String(input_text || (length > 1 ? `${length} images` : length === 1 ? 'An image' : ''))
}
