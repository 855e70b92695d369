import { type AudioFormat, audioFormats, maxSpeechChars } from '../audio.ts'

/** A voice, by the name that callers use. */
export interface Voice {
  readonly id: string
  /** Id at the provider, if different. */
  readonly wire?: string
  /** Only language of the voice. */
  readonly language?: string
}

/** An inclusive range. */
export interface Range {
  readonly min: number
  readonly max: number
}

/** A speech model, with the properties that its provider documents (specs/decisions/0085-voice.md). */
export interface SpeechModel {
  /** Id at the provider. */
  readonly id: string
  /** Id of `specs/data/providers.ts`. */
  readonly provider: string
  readonly voices: readonly Voice[]
  /** Pattern of the ids of customers' own voices; null when the provider does not support them. */
  readonly ownVoices: RegExp | null
  readonly defaultVoice: string
  readonly formats: readonly AudioFormat[]
  /** At most `maxSpeechChars`. */
  readonly maxInputChars: number
  /** Whether audio is streamed while it is generated. */
  readonly streams: boolean
  /** Languages in ISO 639-1; null when the model detects the language or supports more than a hundred. */
  readonly languages: readonly string[] | null
  /** Range of the speed; null when it cannot be changed. */
  readonly speed: Range | null
  /** Range of the temperature; null when it has no effect. */
  readonly temperature: Range | null
}

const named = (...ids: readonly string[]): readonly Voice[] => ids.map((id) => ({ id }))

const listed = (voices: Readonly<Record<string, string>>): readonly Voice[] =>
  Object.entries(voices).map(([id, wire]) => ({ id, wire }))

const words = (text: string): readonly string[] => text.split(' ')

const firstVoices = named('alloy', 'ash', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer')

const openAi = {
  provider: 'openai',
  ownVoices: null,
  defaultVoice: 'alloy',
  formats: audioFormats,
  maxInputChars: maxSpeechChars,
  streams: true,
  languages: null,
  speed: { min: 0.25, max: 4 },
  temperature: null,
} as const

const elevenLabsVoices = listed({
  george: 'JBFqnCBsd6RMkjVDRZzb',
  sarah: 'EXAVITQu4vr4xnSDxMaL',
  laura: 'FGY2WhTYpPnrIDTdsKH5',
  charlie: 'IKne3meq5aSn9XLyUdCD',
  callum: 'N2lVS1w4EtoT3dr4eOWO',
  liam: 'TX3LPaxmHKxFdv7VOQHJ',
  alice: 'Xb7hH8MSUJpSbSDYk0k2',
  matilda: 'XrExE9yKIg1WjnnlVkGX',
  will: 'bIHbv24MWmeRgasZH58o',
  jessica: 'cgSgspJ2msm6clMCkdW9',
  eric: 'cjVigY5qzO86Huf0OWal',
  chris: 'iP95p4xoKVk53GoZ742B',
  brian: 'nPczCjzI2devNBz1zQrb',
  daniel: 'onwK4e9ZLuTAKqWW03F9',
  lily: 'pFZP5JQG7iQjIQuC4Bku',
  bill: 'pqHfZKP75CvOlQylNhV4',
})

const multilingual = words('en ja zh de hi fr ko pt it es id nl tr fil pl sv bg ro ar cs el fi hr ms sk da ta uk ru')

const elevenLabs = {
  provider: 'elevenlabs',
  voices: elevenLabsVoices,
  ownVoices: /^[A-Za-z0-9]{20}$/,
  defaultVoice: 'george',
  formats: ['mp3', 'opus', 'wav', 'pcm'],
  maxInputChars: maxSpeechChars,
  streams: true,
  speed: { min: 0.7, max: 1.2 },
  temperature: null,
} as const

const aura = (language: string, names: string): readonly Voice[] =>
  words(names).map((name) => ({ id: name, wire: `aura-2-${name}-${language}`, language }))

const auraVoices = [
  ...aura(
    'en',
    'thalia andromeda helena apollo arcas aries amalthea asteria athena atlas aurora callista cora cordelia delia draco electra ' +
      'harmonia hera hermes hyperion iris janus juno jupiter luna mars minerva neptune odysseus ophelia orion orpheus ' +
      'pandora phoebe pluto saturn selene theia vesta zeus',
  ),
  ...aura(
    'es',
    'celeste estrella nestor sirio carina alvaro diana aquila selena javier agustina antonia gloria luciano olivia silvia valerio',
  ),
  ...aura('de', 'viktoria julius elara aurelia lara fabian kara'),
  ...aura('fr', 'agathe hector'),
  ...aura('it', 'livia dionisio melia elio flavio maia cinzia cesare perseo demetra'),
  ...aura('nl', 'rhea sander beatrix daphne cornelia hestia lars roman leda'),
  ...aura('ja', 'fujin izanami uzume ebisu ama'),
]

const geminiVoices = named(
  ...words(
    'Kore Zephyr Puck Charon Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome ' +
      'Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix ' +
      'Sadachbia Sadaltager Sulafat',
  ),
)

const gemini = {
  provider: 'google',
  voices: geminiVoices,
  ownVoices: null,
  defaultVoice: 'Kore',
  formats: ['wav', 'pcm'],
  maxInputChars: maxSpeechChars,
  streams: true,
  languages: null,
  speed: null,
  temperature: { min: 0, max: 2 },
} as const

const orpheus = {
  provider: 'groq',
  ownVoices: null,
  formats: ['wav'],
  maxInputChars: 200,
  streams: true,
  speed: { min: 0.5, max: 4 },
  temperature: null,
} as const

const sonicVoices = listed({
  katie: 'f786b574-daa5-4673-aa0c-cbe3e8534c02',
  jacqueline: '9626c31c-bec5-4cca-baa8-f8ba9e84c8bc',
  'nonfiction man': '79f8b5fb-2cc8-479a-80df-29f7a7cf1a3e',
  'german conversational woman': '3f4ade23-6eb4-4279-ab05-6a144947c4d5',
  'french conversational lady': 'a249eaff-1e96-4d2c-b23b-12efa4f66f41',
  'indian lady': '3b554273-4299-48b9-9aaf-eefd438e3941',
  'japanese woman conversational': '2b568345-1d48-4047-b25f-7baccf842eb0',
})

const cartesia = {
  provider: 'cartesia',
  voices: sonicVoices,
  ownVoices: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  defaultVoice: 'katie',
  formats: ['mp3', 'wav', 'pcm'],
  maxInputChars: maxSpeechChars,
  streams: true,
  languages: words(
    'en de es fr ja pt zh hi ko it nl pl ru sv tr tl bg ro ar cs el fi hr ms sk da ta uk hu no vi bn th he ka id te gu kn ml mr pa',
  ),
  speed: { min: 0.6, max: 1.5 },
  temperature: null,
} as const

const native = (language: string, names: string): readonly Voice[] => words(names).map((id) => ({ id, language }))

const spitchVoices = [
  ...native('yo', 'sade funmi segun femi'),
  ...native('ha', 'amina hasan zainab aliyu'),
  ...native('ig', 'ngozi obinna amara ebuka'),
  ...native('am', 'hana tesfaye tena selam'),
  ...native('en', 'lina john lucy jude henry kani'),
]

/** All voices of OpenAI, so that requests written for it work with the simulated model. */
const simulatedVoices = [...firstVoices, ...named('ballad', 'cedar', 'marin', 'verse')]

/** All speech models that are supported by name. The first is the default. */
export const speechModels: readonly SpeechModel[] = [
  { ...openAi, id: 'tts-1', voices: firstVoices },
  { ...openAi, id: 'tts-1-hd', voices: firstVoices },
  { ...openAi, id: 'gpt-4o-mini-tts', voices: [...firstVoices, ...named('ballad', 'verse', 'marin', 'cedar')] },
  { ...elevenLabs, id: 'eleven_flash_v2_5', languages: [...multilingual, 'hu', 'no', 'vi'] },
  { ...elevenLabs, id: 'eleven_turbo_v2_5', languages: [...multilingual, 'hu', 'no', 'vi'] },
  { ...elevenLabs, id: 'eleven_multilingual_v2', languages: multilingual },
  { ...elevenLabs, id: 'eleven_v3', languages: null },
  {
    id: 'aura-2',
    provider: 'deepgram',
    voices: auraVoices,
    ownVoices: null,
    defaultVoice: 'thalia',
    formats: audioFormats,
    maxInputChars: 2000,
    streams: true,
    languages: ['en', 'es', 'de', 'fr', 'it', 'nl', 'ja'],
    speed: null,
    temperature: null,
  },
  { ...gemini, id: 'gemini-3.8-flash-tts' },
  { ...gemini, id: 'gemini-3.8-flash-lite-tts' },
  {
    ...orpheus,
    id: 'canopylabs/orpheus-v1-english',
    voices: named('autumn', 'diana', 'hannah', 'austin', 'daniel', 'troy'),
    defaultVoice: 'autumn',
    languages: ['en'],
  },
  {
    ...orpheus,
    id: 'canopylabs/orpheus-arabic-saudi',
    voices: named('fahad', 'abdullah', 'sultan', 'lulwa', 'noura', 'aisha'),
    defaultVoice: 'fahad',
    languages: ['ar'],
  },
  { ...cartesia, id: 'sonic-3.5' },
  { ...cartesia, id: 'sonic-3' },
  {
    id: 'spitch-tts',
    provider: 'spitch',
    voices: spitchVoices,
    ownVoices: null,
    defaultVoice: 'sade',
    formats: ['mp3', 'opus', 'flac', 'wav', 'pcm'],
    maxInputChars: maxSpeechChars,
    streams: true,
    languages: ['yo', 'ha', 'ig', 'am', 'en'],
    speed: null,
    temperature: null,
  },
  {
    id: 'simulated-tts',
    provider: 'simulated',
    voices: simulatedVoices,
    ownVoices: null,
    defaultVoice: 'alloy',
    formats: ['mp3', 'wav', 'pcm'],
    maxInputChars: maxSpeechChars,
    streams: true,
    languages: null,
    speed: { min: 0.25, max: 4 },
    temperature: { min: 0, max: 2 },
  },
]
