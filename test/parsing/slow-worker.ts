import type { DocumentBytes } from '#src/parsing/documents/read-document.ts'
import { serveParsers } from '#src/parsing/serve-parsers.ts'

const never = new Int32Array(new SharedArrayBuffer(4))

/** A document that takes as many milliseconds to read as its text says. */
const document = async ({ bytes }: DocumentBytes) => {
  const text = Buffer.from(bytes).toString('utf8')
  Atomics.wait(never, 0, 0, Number(text))
  const chunk = { id: text, start: 0, end: text.length, heading: null, page: null }
  return { title: null, text, page_count: null, chunks: [chunk] }
}

serveParsers({ document })
