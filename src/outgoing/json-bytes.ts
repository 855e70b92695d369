const quote = 0x22
const backslash = 0x5c

/** Strings are read so far byte by byte; of longer ones the end is searched, which is faster by far. */
const shortBytes = 32

/**
 * The place of the quote that ends a string of JSON; the length where none does.
 *
 * @param from the first byte of the string, behind its opening quote.
 */
export const endOfString = (bytes: Buffer, from: number): number => {
  // an escaped quote is mostly followed by others: from there on byte by byte again
  for (let at = from; ; ) {
    for (const near = Math.min(bytes.length, at + shortBytes); at < near; at += 1) {
      const byte = bytes[at]
      if (byte === quote) return at
      if (byte === backslash) at += 1
    }
    const end = bytes.indexOf(quote, at)
    if (end < 0) return bytes.length
    if (backslashesBefore(bytes, at, end) % 2 === 0) return end
    at = end + 1
  }
}

const backslashesBefore = (bytes: Buffer, from: number, end: number): number => {
  let at = end
  while (at > from && bytes[at - 1] === backslash) at -= 1
  return end - at
}
