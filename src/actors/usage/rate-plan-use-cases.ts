import type { RecordStore } from '../../storage/ports.ts'
import { Audited } from '../audit/audited.ts'
import type { UseCases } from '../call/use-cases.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/ids.ts'
import { ratePlans } from './kinds.ts'

type RatePlanUseCases = Pick<UseCases, Extract<keyof UseCases, `rate_plans.${string}`>>

/** What tenants are charged by. Plans are made and listed, never changed. */
export const ratePlanUseCases = ({ records, now }: { records: RecordStore; now: () => number }): RatePlanUseCases => {
  const resource = new RecordResource({
    table: new Table(records, ratePlans, now),
    idPrefix: 'rp',
    view: (row) => ({ id: row.id, ...row.data, ...rowTimes(row) }),
  })
  return {
    'rate_plans.list': ({ scope, query }) => resource.list(scope, query),
    'rate_plans.create': (call) => {
      const { scope, body } = call
      const id = newIdFor(call, 'rp')
      const data = { ...body, description: body.description ?? null }
      const notices = [new Audited(call, 'rate_plan').line('created', id)]
      return resource.create(scope, { id, project: scope.project, data, notices })
    },
  }
}
