import { rowOf } from '#records/schema.ts'
import type { RecordStore, Scope } from '#storage/index.ts'
import { sourceRows } from '../kinds.ts'
import type { SourceRow } from '../schema.ts'

const pageSize = 500

/** Yields the list rows of a base's sources in order of their ids. @throws {StoreUnavailable} */
export async function* sourcesOf(
  records: Pick<RecordStore, 'list'>,
  scope: Scope,
  knowledge_base_id: string,
): AsyncGenerator<SourceRow> {
  for (let after: string | undefined; ; ) {
    const query = {
      where: { knowledge_base_id },
      limit: pageSize,
      ascending: true,
      ...(after !== undefined && { after }),
    }
    const page = await records.list(sourceRows, scope, query)
    for (const record of page) yield rowOf(sourceRows, record)
    if (page.length < pageSize) return
    after = page.at(-1)?.id
  }
}
