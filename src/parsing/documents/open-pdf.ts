import { DocumentRefused } from './document-refused.ts'

/** Maximum number of pixels of an image that is decoded: a page of A4 at 1,200 dots per inch has 140 million. */
const maxImageSize = 150_000_000

/** Opens a PDF file. @throws {DocumentRefused}, and {Error} for other bytes. */
export const openedPdf = async (bytes: Uint8Array) => {
  const { getDocumentProxy } = await import('unpdf')
  try {
    return await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false, verbosity: 0, maxImageSize })
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') throw new DocumentRefused('password_protected')
    throw error
  }
}
