const quote = 0x22
const backslash = 0x5c

/**
 * Strings are scanned byte by byte up to this length; the end of longer ones is found with `indexOf`, which is much
 * faster.
 */
const shortBytes = 32

/**
 * Position of the quote that ends a JSON string; the buffer's length if none does.
 *
 * @param from the first byte of the string, after its opening quote.
 */
export const endOfString = (bytes: Buffer, from: number): number => {
  const end = endWithin(bytes, from, Number.POSITIVE_INFINITY)
  return end < 0 ? bytes.length : end
}

/**
 * The same for a string that may be long and full of escapes.
 *
 * @param stop approximate position at which to stop.
 * @returns the position of the closing quote; `~position` (negative) when the string continues after `stop`, for the
 * next call.
 */
export const endWithin = (bytes: Buffer, from: number, stop: number): number => {
  // an escaped quote is usually followed by others: continue byte by byte
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

/** Number of backslashes before a position. @param from lower bound of the scan. */
export const backslashesBefore = (bytes: Buffer, from: number, end: number): number => {
  let at = end
  while (at > from && bytes[at - 1] === backslash) at -= 1
  return end - at
}
