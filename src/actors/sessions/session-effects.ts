import { projectScope, type Storage } from '#storage/index.ts'
import type { EffectCatalog } from '../runtime/index.ts'
import { type EraserHost, eraseActor } from '../runtime/internal.ts'
import { actionReviews } from './kinds.ts'
import { endMemory, eraseSession, writeCheckpoint } from './session-upkeep.ts'
import { releaseInput, runActionTool, runSessionTool } from './tools/run-tool.ts'
import type { ToolRunner } from './tools/tool-runner.ts'
import { type CallModelParts, callModel } from './turns/call-model.ts'

/** Dependencies of the effects of sessions and actions. */
export interface SessionEffectParts extends CallModelParts {
  readonly tools: ToolRunner
  readonly storage: Pick<Storage, 'commits' | 'records' | 'blobs'>
  readonly host: EraserHost
}

/** The effects of session and action machines, by `<machine>.<name>`. */
export const sessionEffects = (parts: SessionEffectParts): EffectCatalog => ({
  'session.callModel': callModel(parts),
  'session.runTool': runSessionTool(parts),
  'session.writeCheckpoint': writeCheckpoint(parts.conversations),
  'session.endMemory': endMemory(parts.memory),
  'session.eraseSession': eraseSession(parts),
  'action.runTool': runActionTool(parts),
  'action.releaseInput': releaseInput(parts),
  'action.eraseAction': eraseActor(parts, async ({ actor, owner: { project } }) => {
    await parts.storage.records.remove(actionReviews, projectScope(project), actor)
    await parts.tools.release?.({ actionId: actor, project })
  }),
})
