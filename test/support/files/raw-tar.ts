/** A tar entry with explicit header fields, which may be invalid. */
export interface RawTarEntry {
  readonly name: string
  readonly content?: string | Buffer
  /** '0' for a file, '1' for a hard link, '2' for a symbolic link, '3' for a device … */
  readonly type?: string
  readonly size?: string
}

/** A tar of these entries. @param ends false: without the final blocks of zeros. */
export const rawTar = (entries: readonly RawTarEntry[], { ends = true } = {}): Buffer =>
  Buffer.concat([...entries.map(entryOf), Buffer.alloc(ends ? 1024 : 0)])

/** A pax header for the next entry. */
export const paxEntry = (records: Readonly<Record<string, string>>): RawTarEntry => ({
  ...{ name: 'PaxHeader', type: 'x' },
  content: Object.entries(records)
    .map(([key, value]) => recordOf(` ${key}=${value}\n`))
    .join(''),
})

const recordOf = (text: string): string => {
  const bytes = Buffer.byteLength(text)
  let length = bytes + 1
  while (String(length).length + bytes !== length) length = String(length).length + bytes
  return `${length}${text}`
}

const entryOf = ({ name, content = '', type = '0', size }: RawTarEntry): Buffer => {
  const bytes = Buffer.from(content)
  const header = Buffer.alloc(512)
  header.write(name, 0, 100)
  header.write('0000644\0', 100)
  header.write(size ?? `${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 12, 'latin1')
  header.write('        ', 148)
  header.write(type, 156)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}
