const offset = 0x811c9dc5
const prime = 0x01000193

/** Returns a hash of 32 bits of a text (FNV-1a over its UTF-16 units). */
export const hash32 = (text: string, basis = offset): number => {
  let hash = basis
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), prime)
  return hash >>> 0
}

/** Returns a hash of 53 bits, as many as a number has. */
export const hash53 = (text: string): number => (hash32(text, 0x9dc5811c) & 0x1f_ffff) * 2 ** 32 + hash32(text)
