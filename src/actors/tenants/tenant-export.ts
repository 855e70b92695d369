import { type JsonObject, type Scope, type Storage, type StoredRecord, tenantScope } from '#storage/index.ts'
import type { BytesResult } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { rowTimes, timestampOf } from '../records/row-times.ts'
import type { AnyKind, Row } from '../records/schema.ts'
import { shownPayload } from '../records/shown-event.ts'
import { actorBlobs, type Host, logPage } from '../runtime/internal.ts'
import type { TenantData } from './kinds.ts'

/** Dependencies of `TenantExport`. */
export interface TenantExportParts extends Pick<Services, 'kinds' | 'now'> {
  readonly storage: Pick<Storage, 'commits' | 'records' | 'blobs'>
  readonly host: { readonly rows: Pick<Host['rows'], 'shown'> }
  /** The kinds that are list rows of actors, whose logs are exported too. */
  readonly actorRows: readonly AnyKind[]
}

/** One list of an export, and the kind of its rows; null for a list that is always empty. */
interface Section {
  readonly name: string
  readonly kind: AnyKind | null
}

/** The tenant of an export, and how its data is shown. */
interface Source extends Pick<ExportOptions, 'includeSecrets'> {
  readonly tenant: Row<TenantData>
}

const pageSize = 100
/** Bytes of a piece of base64: a multiple of three. */
const pieceBytes = 192 * 1024

/** How an export is written. */
export interface ExportOptions {
  /** The request's `Accept` header. */
  readonly accept: string
  /** Whether arguments and outputs of tool calls are complete; otherwise they are masked as in the API. */
  readonly includeSecrets: boolean
}

/** Lists that every export has, in this order, even if empty; those of other kinds follow. */
const always = ['users', 'installations', 'sessions', 'runs', 'actions', 'memories', 'knowledge', 'usage', 'audit_log']

/**
 * Exports everything stored about a tenant, as one JSON document or as JSON lines. Only one page of rows or of a log is
 * in memory at a time, whatever the size of the tenant. Encrypted fields are left out, and so is data of the project:
 * its agents' prompts and tools. Arguments and outputs of tool calls are masked as in the API, unless secrets are
 * included (specs/decisions/0113-patterns-and-masks.md).
 */
export class TenantExport {
  readonly #parts: TenantExportParts
  readonly #sections: readonly Section[]

  constructor(parts: TenantExportParts) {
    this.#parts = parts
    const shown = parts.kinds.filter(({ exported }) => exported !== null)
    const named = new Map(shown.map((kind) => [kind.exported ?? kind.name, kind]))
    const names = [...new Set([...always, ...named.keys()])]
    this.#sections = names.map((name) => ({ name, kind: named.get(name) ?? null }))
  }

  of(tenant: Row<TenantData>, { accept, includeSecrets }: ExportOptions): BytesResult {
    const source = { tenant, includeSecrets }
    return accept.includes('application/x-ndjson')
      ? { contentType: 'application/x-ndjson', bytes: this.#lines(source) }
      : { contentType: 'application/json; charset=utf-8', bytes: this.#document(source) }
  }

  async *#lines(source: Source): AsyncGenerator<string> {
    const line = (type: string, data: object): string => `${JSON.stringify({ type, data })}\n`
    yield line('tenant', shown(source.tenant))
    for (const { name, kind } of this.#sections) {
      for await (const row of this.#rowsOf(source, kind)) {
        const begun = `{"type":${JSON.stringify(name)},"data":${this.#fields(row, kind)}`
        if (kind?.textBlobs === undefined) yield `${begun}}}\n`
        else {
          yield begun
          yield* this.#text(row, kind.textBlobs(row.data))
          yield '}}\n'
        }
        if (!this.#hasLog(kind)) continue
        for await (const event of this.#eventsOf(source, row)) yield line(`${name}.event`, { of: row.id, ...event })
        const head = `{"type":"${name}.${kind?.byteBlobs?.list}","data":`
        yield* this.#bytes(row, kind, { begun: (id) => head + bytesOfRow({ of: row.id, id }), end: '"}}\n' })
      }
    }
    yield line('end', { exported_at: timestampOf(this.#parts.now()) })
  }

  async *#document(source: Source): AsyncGenerator<string> {
    yield `{"tenant":${JSON.stringify(shown(source.tenant))}`
    for (const { name, kind } of this.#sections) {
      yield `,${JSON.stringify(name)}:[`
      let separator = ''
      for await (const row of this.#rowsOf(source, kind)) {
        yield separator
        yield* this.#item(source, row, kind)
        separator = ','
      }
      yield ']'
    }
    yield `,"exported_at":${JSON.stringify(timestampOf(this.#parts.now()))}}`
  }

  async *#item(source: Source, row: StoredRecord, kind: AnyKind | null): AsyncGenerator<string> {
    yield this.#fields(row, kind)
    if (kind?.textBlobs !== undefined) yield* this.#text(row, kind.textBlobs(row.data))
    if (!this.#hasLog(kind)) {
      yield '}'
      return
    }
    yield ',"events":['
    let separator = ''
    for await (const event of this.#eventsOf(source, row)) {
      yield separator + JSON.stringify(event)
      separator = ','
    }
    yield ']'
    let begun = `,"${kind?.byteBlobs?.list}":[`
    const open = (id: string): string => {
      const text = begun + bytesOfRow({ id })
      begun = ','
      return text
    }
    yield* this.#bytes(row, kind, { begun: open, end: '"}' })
    yield begun === ',' ? ']}' : '}'
  }

  /** Streams the bytes that an actor keeps in blobs, each in base64 as the last field of an object. */
  async *#bytes(
    { id: actor, project, tenant }: StoredRecord,
    kind: AnyKind | null,
    { begun, end }: { readonly begun: (id: string) => string; readonly end: string },
  ): AsyncGenerator<string> {
    const { blobs } = this.#parts.storage
    if (kind?.byteBlobs === undefined) return
    const prefix = actorBlobs({ actor, tenant }) + kind.byteBlobs.named
    for (let after = prefix; ; ) {
      const names = (await blobs.hashes(project, after, pageSize)).filter((name) => name.startsWith(prefix))
      for (const name of names) {
        const bytes = await blobs.bytes(project, name)
        if (bytes === null) continue
        yield begun(name.slice(prefix.length))
        for (let at = 0; at < bytes.length; at += pieceBytes) yield base64Of(bytes.subarray(at, at + pieceBytes))
        yield end
      }
      if (names.length < pageSize) return
      after = names.at(-1) ?? after
    }
  }

  /** A row's JSON without its closing brace. */
  #fields(row: StoredRecord, kind: AnyKind | null): string {
    return JSON.stringify({ ...shown(row), ...this.#leftOut(kind) }).slice(0, -1)
  }

  /** Streams a text stored in blobs as a field of its row; it is never in memory as a whole. */
  async *#text({ project }: StoredRecord, names: readonly string[]): AsyncGenerator<string> {
    yield ',"text":"'
    for (const name of names) {
      const text = await this.#parts.storage.blobs.get(project, name)
      // JSON without the surrounding quotes: the halves of a surrogate pair split between two blobs are joined again
      yield JSON.stringify(text ?? '').slice(1, -1)
    }
    yield '"'
  }

  #hasLog(kind: AnyKind | null): boolean {
    return kind !== null && this.#parts.actorRows.some(({ name }) => name === kind.name)
  }

  #leftOut(kind: AnyKind | null): JsonObject {
    const sealed = (kind?.sealed ?? []).map(({ field }) => field)
    return Object.fromEntries([...sealed, ...(kind?.unexported ?? [])].map((field) => [field, undefined]))
  }

  async *#rowsOf({ tenant, includeSecrets }: Source, kind: AnyKind | null): AsyncGenerator<StoredRecord> {
    if (kind === null) return
    const mask = includeSecrets ? undefined : kind.masked
    const { storage, host } = this.#parts
    await host.rows.shown()
    const scope: Scope = tenantScope(tenant.project, tenant.id)
    for (let after: string | undefined; ; ) {
      const query = { limit: pageSize, ascending: true, ...(after !== undefined && { after }) }
      const page: readonly StoredRecord[] = await storage.records.list(kind, scope, query)
      for (const row of page) yield mask === undefined ? row : { ...row, data: mask(row.data) }
      after = page.at(-1)?.id
      if (after === undefined) return
    }
  }

  async *#eventsOf({ includeSecrets }: Source, { id, project }: StoredRecord): AsyncGenerator<JsonObject> {
    const log = { storage: this.#parts.storage, actor: id, project }
    for (let after = 0; ; ) {
      const page = await logPage(log, after, pageSize)
      for (const { sequence, event_type, turn_number, payload, at } of page) {
        yield {
          sequence,
          event_type,
          ...(turn_number !== undefined && { turn_number }),
          payload: includeSecrets ? payload : shownPayload({ event_type, payload }, 'person'),
          created_at: timestampOf(at),
        }
      }
      const last = page.at(-1)
      if (last === undefined) return
      after = last.sequence
    }
  }
}

/** The beginning of an object whose last field is base64. */
const bytesOfRow = (fields: object): string => `${JSON.stringify(fields).slice(0, -1)},"base64":"`

const base64Of = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')

const shown = (row: StoredRecord) => ({
  id: row.id,
  ...row.data,
  ...costOf(row.data),
  user: row.user ?? undefined,
  ...rowTimes(row),
})

/** The API returns a session's cost as a number; the row stores exact decimal text. */
const costOf = ({ total_cost }: JsonObject): JsonObject =>
  typeof total_cost === 'string' ? { total_cost: Number(total_cost) } : {}
