/**
 * Yields the lines of a file, without their newlines. A last line without a newline is incomplete and is not yielded,
 * so a file that is cut in the middle of a line ends with the line before.
 * Only newlines separate lines: node:readline also splits at U+2028, which is not escaped in JSON.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      yield Buffer.concat([...begun, bytes.subarray(from, end)])
      begun = []
      from = end + 1
    }
    if (from < bytes.length) begun.push(Buffer.from(bytes.subarray(from)))
  }
}

const newline = 0x0a
