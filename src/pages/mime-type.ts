import { MIMEType } from 'node:util'

/** Reads a content type as the WHATWG's MIME sniffing standard does; null for none, and for one that is malformed. */
export const mimeTypeOf = (text: string | null | undefined): MIMEType | null => {
  try {
    return new MIMEType(text ?? '')
  } catch {
    return null
  }
}
