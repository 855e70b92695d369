/** An entry of a tar as its bytes say it, right or wrong. */
export interface RawTarEntry {
  readonly name: string
  readonly content?: string | Buffer
  /** '0' a file, '1' a hard link, '2' a link, '3' a device … */
  readonly type?: string
  readonly size?: string
}

/** A tar of these entries. @param ends false: without the blocks of zeros at its end. */
export const rawTar = (entries: readonly RawTarEntry[], { ends = true } = {}): Buffer =>
  Buffer.concat([...entries.map(entryOf), Buffer.alloc(ends ? 1024 : 0)])

/** The header of pax before an entry. */
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
