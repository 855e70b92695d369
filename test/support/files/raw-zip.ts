import { crc32, deflateRawSync } from 'node:zlib'

/** A zip entry with explicit header fields, which may be invalid. */
export interface RawEntry {
  readonly name: string | Buffer
  readonly content?: string | Buffer
  /** The name in the local header, if it differs. */
  readonly localName?: string
  /** Unix file mode. */
  readonly mode?: number
  readonly flags?: number
  readonly method?: number
  readonly crc?: number
  readonly size?: number
  /** Sizes are after the content and in the directory. */
  readonly isStreamed?: boolean
  /** Sizes and offset are in a ZIP64 extra field. */
  readonly is64?: boolean
  /** The directory entry points to the content of the previous entry. */
  readonly overlaps?: boolean
}

const utf8Flag = 0x800
const streamedFlag = 0x8

/** A zip of these entries. @param count a false number of entries for its end record. */
export const rawZip = (
  entries: readonly RawEntry[],
  { count, before = Buffer.alloc(0) }: { readonly count?: number; readonly before?: Buffer } = {},
): Buffer => {
  const parts: Buffer[] = [before]
  const directory: Buffer[] = []
  const known = new Map<string | Buffer, Content>()
  let [offset, last] = [before.length, before.length]
  for (const entry of entries) {
    const { content = '', method = 8, isStreamed = false } = entry
    const { bytes, crc, deflated } = known.get(content) ?? contentOf(content)
    known.set(content, { bytes, crc, deflated })
    const packed = method === 8 ? deflated : bytes
    const fields = {
      flags: (entry.flags ?? utf8Flag) | (isStreamed ? streamedFlag : 0),
      ...{ method, crc: entry.crc ?? crc, packed: packed.length, size: entry.size ?? bytes.length },
    }
    const place = entry.overlaps === true ? last : offset
    directory.push(listed(entry, fields, place))
    if (entry.overlaps === true) continue
    const name = Buffer.from(entry.localName ?? entry.name)
    const sizes = isStreamed ? { ...fields, crc: 0, packed: 0, size: 0 } : fields
    const local = Buffer.concat([
      Buffer.from('PK\x03\x04'),
      common(sizes, name.length, 0),
      name,
      packed,
      descriptor(fields, isStreamed),
    ])
    parts.push(local)
    last = offset
    offset += local.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE((count ?? entries.length) & 0xffff, 8)
  end.writeUInt16LE((count ?? entries.length) & 0xffff, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, list, end])
}

interface Content {
  readonly bytes: Buffer
  readonly crc: number
  readonly deflated: Buffer
}

const contentOf = (content: string | Buffer): Content => {
  const bytes = Buffer.from(content)
  return { bytes, crc: crc32(bytes), deflated: deflateRawSync(bytes) }
}

interface Fields {
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly size: number
}

const common = ({ flags, method, crc, packed, size }: Fields, nameBytes: number, extraBytes: number): Buffer => {
  const bytes = Buffer.alloc(26)
  bytes.writeUInt16LE(45, 0)
  bytes.writeUInt16LE(flags, 2)
  bytes.writeUInt16LE(method, 4)
  bytes.writeUInt32LE(crc >>> 0, 10)
  bytes.writeUInt32LE(packed, 14)
  bytes.writeUInt32LE(Math.min(size, 0xffff_ffff), 18)
  bytes.writeUInt16LE(nameBytes, 22)
  bytes.writeUInt16LE(extraBytes, 24)
  return bytes
}

const listed = (entry: RawEntry, fields: Fields, place: number): Buffer => {
  const name = Buffer.from(entry.name)
  const extra = entry.is64 === true ? extra64(fields, place) : Buffer.alloc(0)
  const shown = entry.is64 === true ? { ...fields, packed: 0xffff_ffff, size: 0xffff_ffff } : fields
  const tail = Buffer.alloc(14)
  tail.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6)
  tail.writeUInt32LE(entry.is64 === true ? 0xffff_ffff : place, 10)
  const madeBy = Buffer.from([45, 3])
  return Buffer.concat([Buffer.from('PK\x01\x02'), madeBy, common(shown, name.length, extra.length), tail, name, extra])
}

const extra64 = ({ size, packed }: Fields, place: number): Buffer => {
  const extra = Buffer.alloc(28)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(24, 2)
  for (const [index, value] of [size, packed, place].entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index)
  return extra
}

const descriptor = ({ crc, packed, size }: Fields, isStreamed: boolean): Buffer => {
  if (!isStreamed) return Buffer.alloc(0)
  const bytes = Buffer.alloc(16)
  bytes.write('PK\x07\x08', 'latin1')
  for (const [index, value] of [crc, packed, size].entries()) bytes.writeUInt32LE(value >>> 0, 4 + 4 * index)
  return bytes
}
