import type { DocumentBytes } from '#src/parsing/documents/read-document.ts'
import { serveParsers } from '#src/parsing/serve-parsers.ts'

const never = new Int32Array(new SharedArrayBuffer(4))

const held: Buffer[] = []

/**
 * Takes a megabyte every 2 ms, far more than is allowed: what an earlier parse has freed is taken first, and does not
 * let the process grow.
 */
const grow = (): void => {
  for (let count = 0; count < 2_000; count++) {
    held.push(Buffer.alloc(1024 * 1024, 1))
    Atomics.wait(never, 0, 0, 2)
  }
}

/** A document that takes as many milliseconds to read as its text says, or much memory, or waits for what never comes. */
const document = async ({ bytes }: DocumentBytes) => {
  const text = Buffer.from(bytes).toString('utf8')
  if (text === 'wait') await new Promise(() => {})
  if (text === 'grow') grow()
  else Atomics.wait(never, 0, 0, Number(text))
  const chunk = { id: text, start: 0, end: text.length, heading: null, page: null }
  return { title: null, text, page_count: null, chunks: [chunk] }
}

serveParsers({ document })
