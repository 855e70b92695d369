import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

/** An entry of a test archive. */
export interface ArchiveEntry {
  readonly path: string
  readonly content: string | Buffer
  readonly link?: true
  /** A false size for the archive's headers. */
  readonly saidBytes?: number
}

const fileMode = 0o100644
const linkMode = 0o120777

/** A zip with these entries, deflated. */
export const zipOf = (entries: readonly ArchiveEntry[]): Buffer => {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const { path, content, link, saidBytes } of entries) {
    const [name, bytes] = [Buffer.from(path), Buffer.from(content)]
    const packed = deflateRawSync(bytes)
    const sizes = [crc32(bytes), packed.length, saidBytes ?? bytes.length]
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt16LE(8, 8)
    for (const [index, size] of sizes.entries()) local.writeUInt32LE(size, 14 + 4 * index)
    local.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE((3 << 8) | 20, 4)
    entry.writeUInt16LE(20, 6)
    entry.writeUInt16LE(8, 10)
    for (const [index, size] of sizes.entries()) entry.writeUInt32LE(size, 16 + 4 * index)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(((link ? linkMode : fileMode) << 16) >>> 0, 38)
    entry.writeUInt32LE(offset, 42)
    locals.push(local, name, packed)
    central.push(entry, name)
    offset += local.length + name.length + packed.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}

/** A tar.gz with these entries. */
export const tarOf = (entries: readonly ArchiveEntry[]): Buffer =>
  gzipSync(Buffer.concat([...entries.map(tarEntry), Buffer.alloc(1024)]))

const tarEntry = ({ path, content, link }: ArchiveEntry): Buffer => {
  const bytes = link ? Buffer.alloc(0) : Buffer.from(content)
  const header = Buffer.alloc(512)
  header.write(path, 0, 100)
  header.write('0000644\0', 100)
  header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124)
  header.write('        ', 148)
  header.write(link ? '2' : '0', 156)
  if (link) header.write(String(content), 157, 100)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}
