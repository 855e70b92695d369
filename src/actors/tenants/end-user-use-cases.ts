import type { BodyOf } from '#specs/index.ts'
import type { RecordStore } from '#storage/index.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import { unlessSame } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import { type EndUserData, endUsers } from './kinds.ts'

type EndUserBody = BodyOf<'end_users.create'>

/** Use-cases of users of the whole project. Creation is an upsert by `external_id`. */
export const endUserUseCases = ({
  records,
  now,
}: {
  records: RecordStore
  now: () => number
}): UseCasesOf<'end_users'> => {
  const table = new Table(records, endUsers, now)
  const view = (row: Row<EndUserData>) => ({ id: row.id, ...row.data, ...rowTimes(row) })
  const resource = new RecordResource({ table, idPrefix: 'eus', view, uniqueField: 'external_id' })
  return {
    'end_users.list': ({ scope, query: { external_id, ...page } }) =>
      resource.list(scope, external_id === undefined ? page : { ...page, where: { external_id } }),
    'end_users.create': (call) => {
      const { scope, body } = call
      const id = newIdFor(call, 'eus')
      const audited = new Audited(call, 'end_user')
      const notices = [audited.line('created', id)]
      const row = { id, project: scope.project, data: newEndUser(body), notices }
      const edit = (known: Row<EndUserData>) => changed(known, body)
      return resource.upsert(scope, { external_id: body.external_id }, { row, edit, notices: audited.changed() })
    },
    'end_users.get': ({ scope, params }) => resource.get(scope, params.end_user_id),
    'end_users.update': (call) =>
      resource.change(call.scope, call.params.end_user_id, {
        edit: ({ data }) => unlessSame(data, { ...data, ...call.body }),
        notices: new Audited(call, 'end_user').changed(),
      }),
    'end_users.delete': (call) =>
      resource.remove(call.scope, call.params.end_user_id, new Audited(call, 'end_user').removed()),
  }
}

const newEndUser = ({ external_id, display_name, email, metadata }: EndUserBody): EndUserData => ({
  external_id,
  display_name: display_name ?? null,
  email: email ?? null,
  metadata,
})

/** Applies an upsert. Omitted fields keep their value, and so does `metadata` when it is `{}`, its default. */
const changed = ({ data }: Row<EndUserData>, body: EndUserBody): EndUserData | null => {
  const next = {
    ...data,
    display_name: body.display_name === undefined ? data.display_name : body.display_name,
    email: body.email === undefined ? data.email : body.email,
    metadata: Object.keys(body.metadata).length === 0 ? data.metadata : body.metadata,
  }
  return unlessSame(data, next)
}
