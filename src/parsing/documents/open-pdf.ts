import { DocumentRefused } from './document-refused.ts'

/** Opens a PDF file. @throws {DocumentRefused}, and {Error} for other bytes. */
export const openedPdf = async (bytes: Uint8Array) => {
  const { getDocumentProxy } = await import('unpdf')
  try {
    return await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false, verbosity: 0 })
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') throw new DocumentRefused('password_protected')
    throw error
  }
}
