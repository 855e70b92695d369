import { largestImage } from '#gateway/chat/fitting-images.ts'
import { modelsPort } from '#gateway/gateway.ts'
import { actionDefinition } from '#machines/action/action-definition.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { toolCallMachine } from '#machines/tool-call/tool-call.ts'
import { actionReviews } from '#specs/resources/actions/action-reviews.ts'
import { actions } from '#specs/resources/actions/actions.ts'
import { agUi } from '#specs/resources/protocols/ag-ui.ts'
import { uiMessages } from '#specs/resources/protocols/ui-messages.ts'
import { sessions as sessionOperations } from '#specs/resources/sessions.ts'
import { organizationScope } from '#storage/index.ts'
import { authPort } from '../accounts/accounts.ts'
import { members } from '../accounts/kinds.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { fileService } from '../capability/file-service.ts'
import { memoryService } from '../capability/memory-service.ts'
import { Port } from '../capability/port.ts'
import { remoteTools } from '../capability/remote-tools.ts'
import type { Services } from '../capability/services.ts'
import { Table } from '../records/table.ts'
import { pause } from '../runtime/index.ts'
import { Rounds } from '../runtime/internal.ts'
import { tenantDirectory } from '../tenants/tenants.ts'
import { actionUseCases } from './action-use-cases.ts'
import type { AgentConfigs } from './agent-configs.ts'
import { sessionApprovalUseCases } from './approval-use-cases.ts'
import { Conversations } from './conversations.ts'
import { TurnMedia } from './input/turn-media.ts'
import { UnclaimedImages } from './input/unclaimed-images.ts'
import { actionRows, sessionKinds, sessionRows } from './kinds.ts'
import { agUiUseCases } from './protocols/ag-ui.ts'
import { uiMessageUseCases } from './protocols/ui-messages.ts'
import { actionReviewUseCases } from './reviews/action-reviews.ts'
import { sessionEffects } from './session-effects.ts'
import { type SessionParts, sessionUseCases } from './session-use-cases.ts'
import { measuredTools } from './tools/measured-tools.ts'
import { serverTools } from './tools/server-tools.ts'
import { ToolHeaders } from './tools/tool-headers.ts'
import type { ResolveAgent } from './turns/resolved-config.ts'
import { TurnConfigs } from './turns/turn-config.ts'

/** The first version of sessions that knows parts. */
const partsSince = 11

/** The agents that sessions and runs use: cached configs, installations, and the resolver. */
export interface SessionAgents {
  readonly configs: AgentConfigs
  readonly installed: SessionParts['installed']
  readonly installationFor: SessionParts['installationFor']
  readonly resolve: ResolveAgent
}

/** Port through which the agents capability provides agents to sessions and runs. */
export const sessionAgents = new Port<SessionAgents>('the agents of sessions')

/** Dependencies shared by the turns of sessions and the steps of runs. */
export interface TurnServices extends ReturnType<typeof turnMaking> {}

/** Port through which other capabilities get `TurnServices`. */
export const turnServicesPort = new Port<TurnServices>('what turns are made with')

/**
 * Capability `sessions`: conversations that stream, pause for approvals and resume, and actions that await a person.
 */
export const sessions = capability({
  name: 'sessions',
  operations: { ...sessionOperations, ...actions, ...actionReviews, ...uiMessages, ...agUi },
  kinds: sessionKinds,
  machines: [
    { definition: sessionDefinition, rows: sessionRows },
    { definition: actionDefinition, rows: actionRows },
  ],
  charts: [{ name: 'tool_call', version: 1, machine: toolCallMachine }],
  open: (services) => {
    const making = turnMaking(services)
    turnServicesPort.give(services, making)
    const { configs, installed, installationFor } = sessionAgents.of(services)
    const { clock, log } = services
    const warn = (err: unknown): void => log.warn({ err }, 'images without a turn not removed, trying again')
    const sweeps = new Rounds({ clock, everyMs: 10 * 60_000, round: () => making.unclaimed.sweep().catch(warn) })
    sweeps.start()
    const conversations = new Conversations(services.storage, making.readLog, services.now)
    const parts = { ...services, ...making }
    const agentConfig: SessionParts['agentConfig'] = (agent) => configs.of(agent)
    const sessionParts: SessionParts = { ...parts, agentConfig, installed, installationFor }
    const useCases = {
      ...sessionUseCases(sessionParts),
      ...sessionApprovalUseCases(parts),
    }
    return {
      useCases: {
        ...{ ...useCases, ...actionUseCases(parts), ...uiMessageUseCases({ host: services.host, useCases }) },
        ...agUiUseCases({ ...sessionParts, useCases }),
        ...actionReviewUseCases({ ...services, isMember: memberDirectory(services) }),
      },
      effects: sessionEffects({ ...parts, conversations }),
      close: () => sweeps.stop(),
    }
  },
})

/** Returns a function that finds out whether an id is that of a member of the project's organization. */
const memberDirectory = (services: Services) => {
  const { projects } = authPort.of(services)
  const table = new Table(services.records, members, services.now)
  return async (project: string, id: string): Promise<boolean> => {
    const settings = await projects.settings(project)
    return settings !== null && (await table.get(organizationScope(settings.organization), id)) !== null
  }
}

const turnMaking = (services: Services) => {
  const { routing, turns } = modelsPort.of(services)
  const { projects } = authPort.of(services)
  const directory = tenantDirectory.of(services)
  const headers = new ToolHeaders(services)
  const tools = serverTools({
    guard: services.guard,
    headers,
    signingSecrets: (project) => projects.signingSecrets(project),
    resources: () => agentResources.of(services),
    pause: (ms) => pause(services.clock, ms),
  })
  const unclaimed = new UnclaimedImages(services.storage, services.now)
  return {
    unclaimed,
    toolHeaders: headers,
    remoteTools: () => remoteTools.of(services),
    configs: new TurnConfigs(services.storage.blobs),
    media: new TurnMedia({
      blobs: services.storage.blobs,
      unclaimed,
      isKnown: async () => (await services.runtime).processes.haveAll(sessionDefinition.name, partsSince),
      remote: { guard: services.guard.content },
      maxBytes: (project, model) => largestImage(routing.routes, project, model),
      files: () => fileService.of(services),
    }),
    checkModel: (model: string, project: string) => routing.routes.resolve(project, model, 'chat'),
    defaultModel: () => routing.managed.defaultModel,
    checkTenant: async (project: string, tenant: string): Promise<void> => directory.admit(project, tenant),
    models: turns,
    windowOf: (project: string, model: string) => routing.windowOf(project, model),
    tools: services.telemetry === undefined ? tools : measuredTools(tools, services.telemetry),
    readLog: (actor: string, after: number) => services.host.readLog(actor, after),
    memory: () => memoryService.of(services),
  }
}
