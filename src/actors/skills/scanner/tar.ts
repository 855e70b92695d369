/** A file or link in a tar archive. */
export interface TarEntry {
  readonly path: string
  readonly isLink: boolean
  readonly bytes: Buffer
}

const block = 512
const folders = new Set(['5', 'g'])
const links = new Set(['1', '2'])

/**
 * Returns the files and links of a tar archive (ustar, with long names of GNU and pax). Their bytes are views of `tar`,
 * not copies.
 *
 * @throws {Error} for an invalid or truncated archive, and for entries that are not files, folders or links
 */
export const readTar = (tar: Buffer): readonly TarEntry[] => {
  const entries: TarEntry[] = []
  let longName: string | null = null
  for (let at = 0; ; ) {
    const header = tar.subarray(at, at + block)
    if (header.length < block) throw new Error('the tar archive is truncated')
    if (header.every((byte) => byte === 0)) return entries
    if (!isSound(header)) throw new Error('not a tar archive')
    const size = numberOf(header.subarray(124, 136))
    const bytes = tar.subarray(at + block, at + block + size)
    if (bytes.length < size) throw new Error('the tar archive is truncated')
    const type = String.fromCharCode(header[156] ?? 0)
    at += block + Math.ceil(size / block) * block
    if (type === 'L') longName = textOf(bytes)
    else if (type === 'x') longName = paxPath(bytes) ?? longName
    else {
      const path = longName ?? nameOf(header)
      longName = null
      if (folders.has(type)) continue
      if (!links.has(type) && type !== '0' && type !== '\0') throw new Error(`${path} is no file`)
      entries.push({ path, isLink: links.has(type), bytes })
    }
  }
}

const textOf = (bytes: Buffer): string => {
  const end = bytes.indexOf(0)
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end)
}

const numberOf = (field: Buffer): number => {
  const value = Number.parseInt(textOf(field).trim() || '0', 8)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('the tar archive has a size that is no number')
  return value
}

/** Verifies the checksum of a header, in which the checksum field itself counts as spaces. */
const isSound = (header: Buffer): boolean => {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0)
  return sum === Number.parseInt(textOf(header.subarray(148, 156)).trim(), 8)
}

const nameOf = (header: Buffer): string => {
  const [name, prefix] = [textOf(header.subarray(0, 100)), textOf(header.subarray(345, 500))]
  const isUstar = header.toString('latin1', 257, 262) === 'ustar'
  return isUstar && prefix !== '' && !/^[0-7 ]{11}/u.test(prefix) ? `${prefix}/${name}` : name
}

/**
 * Returns the path in a pax header, whose records are `<length> <key>=<value>\n`. They are split by their lengths,
 * since a value may contain line breaks.
 *
 * @throws {Error} for broken records, and for a size record: readers would disagree about where the next entry starts
 */
const paxPath = (bytes: Buffer): string | null => {
  let path: string | null = null
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(32, at)
    const digits = bytes.toString('latin1', at, Math.min(blank, at + 10))
    const length = /^[1-9]\d*$/u.test(digits) ? Number(digits) : 0
    const record = bytes.subarray(blank + 1, at + length)
    const equals = record.indexOf(61)
    if (blank < 0 || equals < 1 || record.at(-1) !== 10 || at + length > bytes.length)
      throw new Error('the tar archive has a broken pax header')
    const key = record.toString('utf8', 0, equals)
    if (key === 'size') throw new Error('the tar archive has sizes beside its headers')
    if (key === 'path') path = record.toString('utf8', equals + 1, record.length - 1)
    at += length
  }
  return path
}
