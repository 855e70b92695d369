import { actorCaller } from '#gateway/call/caller.ts'
import type { ModelRequest } from '#gateway/call/provider-port.ts'
import type { Route } from '#gateway/call/routes.ts'
import { GatewayTurns, type TurnAnswer } from '#gateway/turns/turn-models.ts'
import type { Upstream } from '../call/scripted-upstream.ts'
import type { WireSample } from '../call/wire-samples.ts'
import { openChatWorld } from '../chat/chat-world.ts'

/** The actor of these turns. */
export const whose = actorCaller({ project: 'prj_1', tenant: 'ten_1', user: 'u_1' }, 'agt_1')

/** The route to a server that implements the provider of the sample. */
export const routeOf = (id: WireSample['id'], { url }: Pick<Upstream, 'url'>, model: string): Route =>
  Object.freeze({
    ...{ model, provider: id, format: id, apiKey: 'key-1', source: 'managed', connectionId: null },
    baseUrl: `${url}/${id === 'google' ? 'v1beta' : 'v1'}`,
  } as const)

/** Turns over two real local servers. */
export const openTurnWorld = async (options: Parameters<typeof openChatWorld>[0] = {}) => {
  const world = await openChatWorld(options)
  const turns = new GatewayTurns({ chats: world.chats })
  /** Routes a model of this provider to the first server. */
  const serve = (id: WireSample['id'], model: string, upstream: Pick<Upstream, 'url'> = world.first): void => {
    world.routes.set(model, [routeOf(id, upstream, model)])
  }
  const stream = async (
    request: ModelRequest,
    signal = new AbortController().signal,
  ): Promise<{ readonly answer: TurnAnswer; readonly deltas: readonly string[] }> => {
    const deltas: string[] = []
    const answer = await turns.call(request, whose, { onDelta: (text) => deltas.push(text), signal })
    return { answer, deltas }
  }
  return { ...world, turns, serve, stream }
}

export type TurnWorld = Awaited<ReturnType<typeof openTurnWorld>>
