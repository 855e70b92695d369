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
  const end = endWithin(bytes, from, Number.POSITIVE_INFINITY)
  return end < 0 ? bytes.length : end
}

/**
 * The same of a string that may be long and full of escapes.
 *
 * @param stop where to stop at about.
 * @returns where it ends; `~place` (which is negative) where it goes on at a place behind `stop`, for the next call.
 */
export const endWithin = (bytes: Buffer, from: number, stop: number): number => {
  // an escaped quote is mostly followed by others: from there on byte by byte again
  for (let at = from; ; ) {
    if (at > stop) return ~at
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

/** How many backslashes stand before a place. @param from where to stop counting. */
export const backslashesBefore = (bytes: Buffer, from: number, end: number): number => {
  let at = end
  while (at > from && bytes[at - 1] === backslash) at -= 1
  return end - at
}
