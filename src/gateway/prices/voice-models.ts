import { providers } from '#specs/data/providers.ts'
import { type SpeechModel, speechModels, type Voice } from '#specs/data/speech-models.ts'
import { type TranscriptionModel, transcriptionModels } from '#specs/data/transcription-models.ts'

/** A registered model, resolved from the name that a caller used. */
export interface NamedModel<Model> {
  readonly model: Model
  /** The provider's id for the requested name, such as a dated version of the model. */
  readonly wireModel: string
  /** The voice contained in the name (`aura-2-thalia-en`). */
  readonly voice: Voice | null
}

/** Suffixes of dated and specialised versions, which have the same parameters as the base model. */
const version =
  /^-(?:\d{4}(?:-\d{2}-\d{2})?|general|medical|meeting|phonecall|voicemail|finance|conversationalai|video|drivethru|automotive|atc)$/

/** Finds a registered model by `model` or `provider/model`; null for an unknown name. */
export const speechModelOf = (requestedModel: string): NamedModel<SpeechModel> | null =>
  voiceModel(requestedModel) ?? find(speechModels, requestedModel, 'simulated-tts')

/** Finds a registered model by `model` or `provider/model`; null for an unknown name. */
export const transcriptionModelOf = (requestedModel: string): NamedModel<TranscriptionModel> | null =>
  find(transcriptionModels, requestedModel, 'simulated-transcribe')

interface Registered {
  readonly id: string
  readonly provider: string
}

const find = <Model extends Registered>(
  models: readonly Model[],
  requestedModel: string,
  simulated: string,
): NamedModel<Model> | null => {
  const { provider, name } = splitName(requestedModel)
  const mine = provider === null ? models : models.filter((model) => model.provider === provider)
  const found =
    mine.find(({ id }) => id === name) ??
    mine.find(({ id }) => name.startsWith(id) && version.test(name.slice(id.length))) ??
    // any simulated name selects the simulated voice model
    (/^simulated(?:-|$)/.test(name) ? models.find(({ id }) => id === simulated) : undefined)
  return found === undefined ? null : { model: found, wireModel: name, voice: null }
}

/** Resolves a name that is both voice and model, as Deepgram's are. */
const voiceModel = (requestedModel: string): NamedModel<SpeechModel> | null => {
  const { provider, name } = splitName(requestedModel)
  if (provider !== null && provider !== 'deepgram') return null
  for (const model of speechModels) {
    const voice = model.provider === 'deepgram' ? model.voices.find(({ wire }) => wire === name) : undefined
    if (voice !== undefined) return { model, wireModel: model.id, voice }
  }
  return null
}

const splitName = (requestedModel: string): { readonly provider: string | null; readonly name: string } => {
  const slash = requestedModel.indexOf('/')
  const word = requestedModel.slice(0, Math.max(0, slash)).toLowerCase()
  const known = providers.find(({ id, aliases = [] }) => id === word || aliases.includes(word))
  return known === undefined
    ? { provider: null, name: requestedModel }
    : { provider: known.id, name: requestedModel.slice(slash + 1) }
}
