import type { StreamAnswer } from '#actors/call/call.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { isObject } from '#runtime/index.ts'
import { a2aRpcError } from '#specs/errors/a2a-errors.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField, needText } from '#specs/errors/invalid-field.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import { a2aMessage } from './a2a-message.ts'
import { pushConfigOf } from './a2a-push-config.ts'
import type { A2aRuns, A2aSending, ListQuery } from './a2a-runs.ts'
import { runStatusOf, type TaskView } from './a2a-task.ts'

type RpcCall = Parameters<UseCases['a2a.call']>[0]
type RpcId = string | number | null

/** A method: its result, or its stream. */
type Method = (runs: A2aRuns, call: RpcCall, params: JsonObject) => Promise<{ json: object } | { events: StreamAnswer }>

const idOf = ({ id }: RpcCall['body']): RpcId => (typeof id === 'string' || typeof id === 'number' ? id : null)

const taskIdOf = (params: JsonObject, field = 'id'): string => {
  const id = params[field]
  if (typeof id === 'string' && id !== '') return id
  throw invalidField(`params.${field}`, 'It must be the id of a task.')
}

/** Reads what is sent: the message, and the push notification config of the task that it begins or answers. */
export const sendingOf = ({ message, configuration }: JsonObject, place: string): A2aSending => {
  const push = isObject(configuration) ? configuration.taskPushNotificationConfig : undefined
  const isPushed = push !== undefined && push !== null
  return {
    message: a2aMessage(message, `${place}message`),
    view: viewIn(isObject(configuration) ? configuration : {}, `${place}configuration.`),
    push: isPushed ? pushConfigOf(push, `${place}configuration.taskPushNotificationConfig`) : null,
  }
}

/** What is wanted of a task. @throws {ServiceError} `invalid_field` */
const viewIn = ({ historyLength, includeArtifacts }: JsonObject, place = 'params.'): TaskView => {
  const view = { includeArtifacts: includeArtifacts === true ? true : undefined }
  if (historyLength === undefined || historyLength === null) return view
  if (typeof historyLength === 'number' && Number.isInteger(historyLength) && historyLength >= 0)
    return { ...view, historyLength }
  throw invalidField(`${place}historyLength`, 'It must be an integer of 0 or more.')
}

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  [
    'SendMessage',
    async (runs, call, params) => {
      const { configuration } = params
      const isHasty = isObject(configuration) && configuration.returnImmediately === true
      return { json: { task: await runs.sent(call, sendingOf(params, 'params.'), isHasty) } }
    },
  ],
  [
    'SendStreamingMessage',
    async (runs, call, params) => ({
      events: await runs.sentAndFollowed(call, sendingOf(params, 'params.'), idOf(call.body)),
    }),
  ],
  ['GetTask', async (runs, call, params) => ({ json: await runs.task(call, taskIdOf(params), viewIn(params)) })],
  ['CancelTask', async (runs, call, params) => ({ json: await runs.cancelled(call, taskIdOf(params)) })],
  [
    'SubscribeToTask',
    async (runs, call, params) => ({ events: await runs.followed(call, taskIdOf(params), idOf(call.body)) }),
  ],
  ['ListTasks', async (runs, call, params) => ({ json: await runs.list(call, listQuery(params), viewIn(params)) })],
  [
    'CreateTaskPushNotificationConfig',
    async (runs, call, params) => ({
      json: await runs.setPush(call, taskIdOf(params, 'taskId'), pushConfigOf(params, 'params')),
    }),
  ],
  [
    'GetTaskPushNotificationConfig',
    async (runs, call, params) => ({
      json: await runs.pushConfig(call, taskIdOf(params, 'taskId'), needText(params.id, 'params.id')),
    }),
  ],
  [
    'ListTaskPushNotificationConfigs',
    async (runs, call, params) => ({ json: await runs.pushConfigs(call, taskIdOf(params, 'taskId')) }),
  ],
  [
    'DeleteTaskPushNotificationConfig',
    async (runs, call, params) => ({
      json: await runs.removePush(call, taskIdOf(params, 'taskId'), needText(params.id, 'params.id')),
    }),
  ],
  [
    'GetExtendedAgentCard',
    async () => {
      throw new ServiceError('bad_request', {
        message: 'The agent has one card only.',
        extra: { reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' },
      })
    },
  ],
])

/** Answers a call over JSON-RPC. What a method refuses is an answer as well. */
export const answerRpc = async (runs: A2aRuns, call: RpcCall) => {
  const id = idOf(call.body)
  try {
    const method = methods.get(call.body.method)
    if (method === undefined)
      throw new ServiceError('bad_request', {
        param: 'method',
        message: 'There is no such method.',
        extra: { reason: 'METHOD_NOT_FOUND' },
      })
    const result = await method(runs, call, call.body.params ?? {})
    if ('events' in result) return result
    const json: JsonObject = JSON.parse(JSON.stringify(result.json))
    return { json: { jsonrpc: '2.0' as const, id, result: json } }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.isPassing) throw error
    const { error: shown } = a2aRpcError(error, call.requestId)
    return { json: { jsonrpc: '2.0' as const, id, error: JSON.parse(JSON.stringify(shown)) } }
  }
}

const text = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** @throws {ServiceError} `invalid_field` */
export const sinceOf = (time: string | undefined, param: string): number | undefined => {
  if (time === undefined) return undefined
  const at = Date.parse(time)
  if (Number.isNaN(at)) throw invalidField(param, 'It must be a time by ISO 8601.')
  return at
}

const maxPage = 100
const usualPage = 50

const listQuery = ({ contextId, status, pageSize, pageToken, statusTimestampAfter }: JsonObject): ListQuery => {
  const size = typeof pageSize === 'number' && Number.isInteger(pageSize) && pageSize > 0 ? pageSize : usualPage
  const state = text(status)
  const isKnown = state === undefined || state === 'TASK_STATE_UNSPECIFIED' || runStatusOf(state) !== undefined
  if (!isKnown) throw invalidField('params.status', 'There is no such state.')
  const since = sinceOf(text(statusTimestampAfter), 'params.statusTimestampAfter')
  const page = { contextId: text(contextId), pageToken: text(pageToken), pageSize: Math.min(size, maxPage), since }
  return { ...page, status: state === 'TASK_STATE_UNSPECIFIED' ? undefined : state }
}
