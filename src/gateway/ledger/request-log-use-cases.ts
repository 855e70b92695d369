import { timeOf } from '#actors/call/query-time.ts'
import type { UseCasesOf } from '#actors/call/use-cases.ts'
import { settingUseCases } from '#actors/capability/project-setting.ts'
import type { Services } from '#actors/capability/services.ts'
import { type Cover, filteredPage } from '#records/filtered-page.ts'
import { timestampOf } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { idFloor, type RowWriter } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { QueryOf } from '#specs/index.ts'
import { type Scope, tenantScope } from '#storage/index.ts'
import { logPrefix, type RequestLogData, requestLog } from './kinds.ts'
import type { LogSettings } from './log-settings.ts'

/** Answers of models that are stored only while the log keeps bodies. */
export interface LoggedAnswers {
  /** Called when the settings of a project's log have changed. */
  apply(project: string, stores: boolean): Promise<void>
}

export interface RequestLogParts extends Pick<Services, 'now' | 'records'> {
  readonly rows: Pick<RowWriter, 'shown'>
  readonly settings: LogSettings
  readonly answers: LoggedAnswers
}

type LogQuery = QueryOf<'request_log.list'>

export const requestLogUseCases = ({
  records,
  rows,
  settings,
  answers,
  now,
}: RequestLogParts): UseCasesOf<'request_log' | 'request_log_settings'> => {
  const table = new Table(records, requestLog, now)
  return {
    'request_log.list': async ({ scope, query }) => {
      await rows.shown()
      const { data, next_cursor } = await filteredPage(
        table,
        { idPrefix: logPrefix },
        {
          cover: coverOf(scope, query),
          page: pageQuery(query),
        },
      )
      return { data: data.map(lineOf), next_cursor }
    },
    'request_log.get': async ({ scope, params: { request_id } }) => {
      await rows.shown()
      const [row] = await table.list(scope, { where: { request_id }, limit: 1 })
      if (row === undefined) throw new ServiceError('not_found')
      const { request_body, response_body, failed_attempts = [], price = null } = row.data
      return { ...lineOf(row), failed_attempts, price, request_body, response_body }
    },
    ...settingUseCases('request_log_settings', settings.setting, {
      view: (data) => data,
      changed: async (project, { mode }) => {
        settings.changed(project)
        await answers.apply(project, mode === 'bodies')
      },
    }),
  }
}

const fields = ['model', 'provider', 'operation', 'external_user_id', 'key_id', 'error', 'status'] as const

/** Uses one index (tenant, else error, else model), and filters what it finds by the other fields. */
const coverOf = (scope: Scope, query: LogQuery): Cover<RequestLogData> => {
  const { tenant_id, model, error, failed } = query
  return {
    scope: tenant_id === undefined ? scope : tenantScope(scope.project, tenant_id),
    where: tenant_id === undefined ? indexed(error, model) : {},
    matches: ({ data }) =>
      fields.every((field) => query[field] === undefined || query[field] === data[field]) &&
      (failed === undefined || failed === (data.error !== null)),
  }
}

const indexed = (error: string | undefined, model: string | undefined): Readonly<Record<string, string>> => {
  if (error !== undefined) return { error }
  return model === undefined ? {} : { model }
}

const pageQuery = ({ limit, cursor, from, to }: LogQuery) => ({
  limit,
  cursor,
  ...(to !== undefined && { ceiling: idFloor(logPrefix, timeOf('to', to)) }),
  ...(from !== undefined && { floor: idFloor(logPrefix, timeOf('from', from)) }),
})

const lineOf = ({ id, tenant, created_at, data }: Row<RequestLogData>) => {
  const {
    started_at,
    redactions = {},
    guardrails = [],
    cache = null,
    saved_usd = null,
    failed_attempts: _failed,
    price: _price,
    ...rest
  } = data
  const { request_body: _request, response_body: _answered, ...line } = rest
  const times = { at: timestampOf(created_at), started_at: timestampOf(started_at) }
  return { id, ...times, tenant_id: tenant, redactions, guardrails, cache, saved_usd, ...line }
}
