import type { UseCases } from '#actors/call/use-cases.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { pushConfigOf } from './a2a-push-config.ts'
import { answerRpc, sendingOf, sinceOf } from './a2a-rpc.ts'
import { A2aRuns, type A2aRunsParts } from './a2a-runs.ts'

type A2aUseCases = Pick<UseCases, Extract<keyof UseCases, `a2a.${string}`>>

/** Agents for other agents, by A2A. A task is a run. */
export const a2aUseCases = (parts: A2aRunsParts): A2aUseCases => {
  const runs = new A2aRuns(parts)
  return {
    'a2a.card': (call) => runs.card(call, call.params.agent_id),
    'a2a.host_card': (call) => runs.hostCard(call),
    'a2a.call': async (call) => {
      await runs.require(call)
      return answerRpc(runs, call)
    },
    'a2a.send': async (call) => {
      await runs.require(call)
      const { configuration } = call.body
      return { task: await runs.sent(call, sendingOf(call.body, ''), configuration?.returnImmediately ?? false) }
    },
    'a2a.stream': async (call) => {
      await runs.require(call)
      return runs.sentAndFollowed(call, sendingOf(call.body, ''), null)
    },
    'a2a.tasks': (call) => {
      const since = sinceOf(call.query.statusTimestampAfter, 'statusTimestampAfter')
      return runs.list(call, { ...call.query, since }, call.query)
    },
    'a2a.task': (call) => runs.task(call, call.params.run_id, call.query),
    'a2a.command': async (call) => {
      const [id = '', command] = call.params.run_id.split(':')
      if (command === undefined) return { json: await runs.task(call, id) }
      if (command === 'cancel') return { json: await runs.cancelled(call, id) }
      if (command === 'subscribe') return { events: await runs.followed(call, id, null) }
      throw new ServiceError('not_found', {
        param: 'run_id',
        message: 'A task has the commands :cancel and :subscribe.',
      })
    },
    'a2a.set_push_config': (call) => runs.setPush(call, call.params.run_id, pushConfigOf(call.body, 'body')),
    'a2a.push_configs': (call) => runs.pushConfigs(call, call.params.run_id),
    'a2a.push_config': (call) => runs.pushConfig(call, call.params.run_id, call.params.config_id),
    'a2a.remove_push_config': (call) => runs.removePush(call, call.params.run_id, call.params.config_id),
  }
}
