import { describe, expect, it } from 'vitest'
import { speechModelOf, transcriptionModelOf } from '#gateway/prices/voice-models.ts'
import { providerFormats } from '#gateway/providers/provider-formats.ts'
import { speechCandidates, transcriptionCandidates } from '#gateway/voice/auto-candidates.ts'
import { maxAudioBytes, maxSpeechChars } from '#specs/audio.ts'
import { providers } from '#specs/data/providers.ts'
import { speechModels } from '#specs/data/speech-models.ts'
import { transcriptionModels } from '#specs/data/transcription-models.ts'

const formatOf = (provider: string) => providers.find(({ id }) => id === provider)?.format

describe.each(speechModels)('the speech model $id', (model) => {
  it('has a provider with a wire format for it', () => {
    expect(providerFormats[formatOf(model.provider) ?? 'anthropic'].voice).toBeDefined()
    expect(speechModelOf(`${model.provider}/${model.id}`)).toMatchObject({ model, wireModel: model.id })
    expect(speechModelOf(model.id)?.model).toBe(model)
  })

  it('has voices with unique names, including its default', () => {
    const names = model.voices.map(({ id }) => id.toLowerCase())
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain(model.defaultVoice.toLowerCase())
    for (const { id, wire } of model.voices)
      if (wire !== undefined) expect(model.ownVoices?.test(id) ?? false).toBe(false)
  })

  it('is within the limits of the API', () => {
    expect(model.maxInputChars).toBeLessThanOrEqual(maxSpeechChars)
    expect(model.formats.length).toBeGreaterThan(0)
    if (model.speed !== null) {
      expect(model.speed.min).toBeGreaterThanOrEqual(0.25)
      expect(model.speed.max).toBeLessThanOrEqual(4)
    }
  })

  it('supports the language of each single-language voice', () => {
    const spoken = model.voices.flatMap(({ language }) => language ?? [])
    expect(spoken.filter((language) => !model.languages?.includes(language))).toEqual([])
  })
})

describe.each(transcriptionModels)('the transcription model $id', (model) => {
  it('has a provider with a wire format for it, and is within the file size limit of the API', () => {
    expect(providerFormats[formatOf(model.provider) ?? 'anthropic'].voice).toBeDefined()
    expect(transcriptionModelOf(`${model.provider}/${model.id}`)).toMatchObject({ model, wireModel: model.id })
    expect(model.maxBytes).toBeLessThanOrEqual(maxAudioBytes)
    expect(model.forms).toContain('json')
  })
})

it('at least seven providers have speech and transcription models', () => {
  const both = new Set(speechModels.map(({ provider }) => provider))
  expect([...both].sort()).toEqual([...new Set(transcriptionModels.map(({ provider }) => provider))].sort())
  expect(both.size).toBeGreaterThanOrEqual(7)
})

it('the auto-router has known candidates, OpenAI first, ordered by expected latency', () => {
  for (const { name } of speechCandidates) expect(speechModelOf(name), name).not.toBeNull()
  for (const { name } of transcriptionCandidates) expect(transcriptionModelOf(name), name).not.toBeNull()
  expect(speechCandidates.slice(0, 2).map(({ name }) => name)).toEqual(['openai/tts-1', 'openai/tts-1-hd'])
  expect(new Set(speechCandidates.slice(2).map(({ name }) => name.split('/')[0])).size).toBe(4)
  for (const list of [speechCandidates, transcriptionCandidates]) {
    expect(list.map(({ expectedMs }) => expectedMs)).toEqual(
      list.map(({ expectedMs }) => expectedMs).toSorted((a, b) => a - b),
    )
  }
})
