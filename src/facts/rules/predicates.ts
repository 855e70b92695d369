/**
 * Predicate patterns of a relation. Verbs are in their base form (`be based` matches "am based"). `{o}` is the object.
 * Any other slot is the relation of that name, except `{r}`, the noun that names the relation, and `{_}`, which is
 * ignored.
 */
export interface RelationRule {
  readonly single: boolean
  readonly forms: readonly string[]
  /** Forms that state that it no longer holds; one without `{o}` ends every value. */
  readonly endings?: readonly string[]
}

/** Relations with one value at a time. */
const singleValued: Readonly<Record<string, Omit<RelationRule, 'single'>>> = {
  car: {
    forms: [
      'drive a|an|my? {O}',
      'get around in a|an|my? {O}',
      'own a|an? {car_word}',
      'get|buy|lease|purchase|have myself|ourselves? a|an new|used? {car_word}',
      'trade|swap|exchange my? {_} for|in a|an? {car_word}',
    ],
    endings: ['sell my car', 'sell my {car_word}', 'get rid of my car'],
  },
  lives_in: {
    forms: [
      'live|reside|dwell in|at|near {o}',
      'be based|residing|settled in|at|out|near of? {o}',
      'move|relocate|emigrate|immigrate|transfer to {O}',
      'move|relocate from {_} to {o}',
      'move into {O}',
      'move over|back|out|up|down|across to {o}',
      'make a? the? move to {o}',
      'settle down? in {o}',
      'call {o} home',
      'call {o} my home',
      'make my? home in {o}',
      'be a? resident of {o}',
      'have relocated|settled to|in {o}',
      'set up home in {o}',
      'rent|buy|purchase a|an|my {home_word} in {O}',
    ],
    endings: ['move out|away of|from {o}', 'leave {O} behind?'],
  },
  works_at: {
    forms: [
      'work at|for {o} as a|an|the? {occupation}',
      'work at|for|with {o}',
      'work as a|an|the? {occupation} at|for|with|in {O}',
      'be employed|working|hired|recruited|poached|headhunted at|by|with|for {o}',
      'get hired|employed|recruited at|by {o}',
      'start a|my? new? job|position|role|work|career at|with {o}',
      'start|begin at|with {O}',
      'join {o} as a|an|the? {occupation}',
      'join the? team? at? {O}',
      'get|take|land|accept|have|find|secure a|the|my? new? job|position|role|offer|gig|post at|with|from {o}',
      'switch|change|move jobs|job|employers|companies to {o}',
      'switch|move to {o} for work',
      'earn my? living at {o}',
      'be on the payroll of|at {o}',
      'draw|collect my? paycheck|salary at|from {o}',
    ],
    endings: [
      'quit|leave|resign from? {O}',
      'quit|leave|lose my|the job',
      'be laid off from? {o}',
      'be laid off',
      'get laid off',
      'get|be fired from {o}',
      'get|be fired',
      'be unemployed',
      'be between jobs',
      'retire',
      'be retired',
      'retire from {o}',
    ],
  },
  occupation: {
    forms: [
      'work as a|an|the? {o}',
      'be employed as a|an|the? {o}',
      'be promoted to {o}',
      'get promoted to {o}',
      'be appointed as? {o}',
      'be a|an {o} by profession|trade|training|occupation',
      'make|earn my? living as a|an {o}',
      'start|switch|begin as a|an {o}',
      'retrain|train as a|an {o}',
      'switch careers to {o}',
    ],
  },
  name: { forms: ['be called|named {O}', 'go by {O}', 'answer to {O}'] },
  nickname: { forms: ['be nicknamed {o}', 'be known as {O}'] },
  age: { forms: ['be {n} years|year old', 'turn {n}', 'be aged {n}', 'celebrate my {n} birthday', 'be {n}'] },
  birthday: { forms: ['be born on|in? the? {date}', 'celebrate my birthday on {o}', 'come into the world on {o}'] },
  hometown: {
    forms: [
      'grow up in|around {o}',
      'be raised in {o}',
      'be born in|and raised? in? {O}',
      'be originally? from {O}',
      'come from {O}',
      'hail from {O}',
      'spend my childhood in {o}',
    ],
  },
  partner: {
    forms: [
      'be married|engaged to {O}',
      'get married|engaged to {O}',
      'marry {O}',
      'be dating|seeing {O}',
      'date {O}',
      'be together with {O}',
      'be in a relationship with {O}',
      'tie the knot with {O}',
      'propose to {O}',
    ],
    endings: [
      'break up with {o}',
      'split up? with|from {o}',
      'separate from {o}',
      'get|be divorced from {o}',
      'divorce {o}',
      'get|be divorced',
      'be single',
    ],
  },
  diet: {
    forms: [
      'switch to a|an? {o} diet',
      'go|be on a|an|the? {o} diet',
      'be|go|become|turn a|an? {diet_word}',
      'eat {diet_word}',
      'follow|keep|have a|an|the? {o} diet',
      'be on a|an|the? {o} diet',
      'be on {diet_word}',
      'go on a|an? {o} diet',
      'stick to a|an? {o} diet',
      'switch to a|an? {diet_word}',
    ],
  },
  marital_status: { forms: ['be {marital}'] },
  religion: { forms: ['be a|an? {faith}'] },
  language: {
    forms: [
      'prefer to? speak|talk|chat|write|communicate|answers|replies|converse in? {o}',
      'prefer answers|replies|responses in {o}',
      'want answers|replies|responses in {o}',
      'speak {o} natively',
      'speak {o} at home',
    ],
  },
  timezone: {
    forms: [
      'be in|on the? {o} timezone',
      'be in|on the? {o} time zone',
      'be in|on {O} time',
      'work on {O} time',
      'be in {zone}',
    ],
  },
  doctor: {
    forms: [
      'be a? patient of {o}',
      'be treated by {o}',
      'see dr {o}',
      'see {doctor_word}',
      'go to {doctor_word}',
      'be under the care of {o}',
    ],
  },
  manager: {
    forms: [
      'report to {O}',
      'report directly to {O}',
      'work under {O}',
      'be managed|supervised|led by {O}',
      'answer to {O} at work',
    ],
  },
  studies_at: {
    forms: [
      'study at {o}',
      'attend {O}',
      'be enrolled|studying at|in {O}',
      'enrol|enroll at|in {O}',
      'be a student at|of {O}',
      'be a {_} student at {O}',
      'go to {school_word}',
      'go to school|college|university|uni at|in {o}',
      'transfer to {school_word}',
      'start at {school_word}',
      'start|begin|do my|a? studies|degree|phd|master|bachelor at {O}',
      'be doing my|a {_} at {school_word}',
      'get into {school_word}',
      'be accepted|admitted at|to|into {O}',
      'study {studies} at {O}',
      'read {studies} at {O}',
    ],
    endings: ['drop out of {o}', 'graduate from {o}'],
  },
  studies: { forms: ['study {o}', 'major in {o}', 'be majoring in {o}'] },
  bank: { forms: ['bank with|at {O}', 'have my account with|at {O}'] },
  gym: { forms: ['train|exercise at {O}'] },
}

/** Relations with several values at a time. */
const severalValued: Readonly<Record<string, Omit<RelationRule, 'single'>>> = {
  likes: {
    forms: [
      'like|love|enjoy|adore {o}',
      'be fond|keen|crazy|mad|passionate of|on|about {o}',
      'be a? big|huge|great? fan|lover of {o}',
      'be into {o}',
      'be hooked on {o}',
      'have a soft spot for {o}',
      'have a thing for {o}',
      'can not get enough of? {o}',
      'can not live without {o}',
      'find {o} delicious|wonderful|relaxing|fascinating|amazing|awesome|delightful',
      'take great? pleasure in {o}',
    ],
  },
  dislikes: {
    forms: [
      'dislike|hate|detest|loathe|despise {o}',
      'can not stand {o}',
      'can not bear {o}',
      'be not a? fan of {o}',
      'be not into {o}',
      'find {o} disgusting|awful|terrible|boring|annoying',
    ],
  },
  allergic_to: {
    forms: [
      'be severely? allergic to {o}',
      'have a|an? severe|bad|serious|mild? allergy|allergies|intolerance to {o}',
      'have a|an? severe|bad|serious|mild? {o} allergy',
      'be intolerant to|of {o}',
      'be {o} intolerant',
      'suffer from a|an? {o} allergy',
      'suffer from an? allergy|allergies to {o}',
      'react badly|allergically to {o}',
      'have an? allergic reaction to {o}',
      'break out in hives from {o}',
      'break out in hives when i eat|touch {o}',
      'get hives|rash|rashes from {o}',
      'be anaphylactic to {o}',
      'develop an? allergy to {o}',
    ],
  },
  condition: {
    forms: [
      'have|get|develop a|an|some? {condition}',
      'suffer from {o}',
      'be diagnosed with {o}',
      'live with a|an? {condition}',
      'be a|an? {ailing}',
      'be recovering from {o}',
    ],
  },
  takes: { forms: ['be on {medicine}', 'take {medicine}'] },
  fears: { forms: ['be afraid|scared|frightened|terrified of {fear}', 'have a|an? fear|phobia of {fear}'] },
  trait: { forms: ['be a|an|the? {trait}'] },
  responsible_for: { forms: ['be responsible for {o}', 'be in charge of {o}'] },
  weakness: { forms: ['be bad|terrible|hopeless at {o}'] },
  avoids: {
    forms: ['avoid {o}', 'can not eat|have|drink {o}', 'not eat|drink {o}', 'not {abstained}', 'stay away from {o}'],
  },
  hobby: {
    forms: [
      'play|practise|practice the? {o} as a hobby',
      'take up {o}',
      'be taking up {o}',
      'do {o} as a hobby',
      'do {o} in my free|spare time',
      'spend my|the? weekends|evenings|free|spare time? on? {o}',
      'go {activity}',
      'pick up {o} as a hobby',
      'get into {o}',
      'have {o} as a hobby',
      'like|love|enjoy to? {o} in my free|spare time',
    ],
  },
  plays: { forms: ['play {o}'] },
  speaks: {
    forms: [
      'speak|understand {O}',
      'be fluent in {o}',
      'know {language_word}',
      'learn {language_word}',
      'be learning {language_word}',
      'have a? good? command of {O}',
    ],
  },
  visited: {
    forms: [
      'visit {O}',
      'be in {O} on|for vacation|holiday',
      'be to {O}',
      'travel|fly|drive|trip around|through|across|to {O}',
      'go to {O}',
      'go on a? trip|holiday|vacation to {O}',
      'take a trip|holiday|vacation to {O}',
      'spend {_} in {O}',
      'come|get|be back|home from {O}',
      'return from {O}',
      'tour {O}',
      'have been to {O}',
      'explore {O}',
    ],
  },
  knows: {
    forms: [
      'know {O}',
      'meet {O} at|in|on|through|during {_}',
      'meet {O}',
      'be acquainted with {O}',
      'be introduced to {O}',
      'make the acquaintance of {O}',
      'get to know {O}',
      'run into {O}',
    ],
  },
  friend: {
    forms: [
      'be friends|mates|buddies with {O}',
      'become friends with {O}',
      'befriend {O}',
      'hang out with {O}',
      'be a friend of {O}',
    ],
  },
  owns: { forms: ['own a|an|my? {o}'] },
  has: {
    forms: [
      'have|get a|an|some|two|three|four|several {owned}',
      'possess {o}',
      'be the? proud? owner of {o}',
      'get myself a|an {o}',
    ],
  },
  uses: { forms: ['use {O}'] },
  member_of: { forms: ['be a? member of {o}', 'belong to {O}', 'volunteer at|for|with {o}'] },
  wants: { forms: ['want|hope|plan to {o}', 'dream of {o}', 'look forward to {o}'] },
  skill: { forms: ['be good|great|skilled at|in {o}'] },
}

/** All relations with their forms; when two match, the earlier one wins. */
export const predicates: readonly (readonly [relation: string, rule: RelationRule])[] = [
  ...Object.entries(singleValued).map(([relation, rule]) => [relation, { ...rule, single: true }] as const),
  ...Object.entries(severalValued).map(([relation, rule]) => [relation, { ...rule, single: false }] as const),
]
