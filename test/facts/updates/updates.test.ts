import { describe, expect, it } from 'vitest'
import { changeOf, mayUpdate } from '#facts/updates/updates.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { minCpuMs } from '#test/support/min-cpu-ms.ts'

const updates = (newer: string, older: string): boolean => {
  const change = changeOf(newer)
  return change !== null && mayUpdate(newer, older, change)
}

describe('what a statement may update', () => {
  it.each([
    [
      'another person',
      'Nina dislikes cheese and Otto is mad about chess',
      "Otto isn't allowed nuts, learned that yesterday",
    ],
    ['another relative', '長女はバレエ、次女はピアノ', '三女は最近テニスを始めた'],
    ['a relative of a relative', 'Dad lives near Cardiff', "Dad's brother has moved to Swansea"],
    ['another owner', 'Ma moto est une Yamaha bleue', "Celle de mon frère, c'est une Honda toute neuve"],
    ['another owner', 'Mein Auto ist ein roter Polo', 'Das von meiner Frau ist ein neuer Zoe'],
    ['another owner', 'मेरा भाई जयपुर में रहता है', 'मेरी बहन अब कानपुर में रहती है'],
    ['another role', 'Mi dentista es la doctora Ruiz', 'Mi oculista ahora es el doctor Vega'],
    ['another role', 'Мой стоматолог - Орлов', 'Мой окулист теперь Серов'],
    ['another subject', 'The wifi password is on the fridge', 'The alarm code has changed, ask Jim'],
    ['another thing', 'My visa runs out in 2029, the railcard in 2027', 'renewed the gym card'],
    ['another activity', 'I play chess with Bea and badminton with Olu', "Olu's given up darts"],
    ['another language', 'Polish is my first language', "I've finally become fluent in Greek"],
    ['another day', 'I swim lengths every Tuesday', 'Signed up for the Friday yoga group'],
    ['another day', '火曜は英会話', '木曜は最近陶芸を始めた'],
    ['another time of the day', 'De manhã tomo café preto', 'À noite agora tomo chá de camomila'],
    ['another season', 'In winter we go skiing in Tyrol', "in summer we've started going to Corsica"],
    ['a birth', 'Minha mãe nasceu em Recife', 'Minha mãe agora mora em Natal'],
    ['an end of something else', 'I take zinc and folic acid', 'finished the nose spray yesterday'],
    ['something more', 'Ich spiele Cello', 'Seit Mai spiele ich auch Klavier'],
    ['another animal', '犬を飼っています', '先月から金魚も飼い始めました'],
    ['something gained', 'My rucksack is green', 'picked up a new suitcase, bright orange'],
  ])('is not what is said of %s: %s', (_, older, newer) => {
    expect(updates(newer, older)).toBe(false)
  })

  it.each([
    ['My dentist is Dr Frost', "I've switched dentists, it's Dr Mehta now"],
    ['I play tennis on Mondays', 'Gave up tennis, my knee is done'],
    ['My run is on Tuesday', 'My run moved to Thursdays'],
    ['My sister lives in Leeds', "My sister's moved to Bath"],
    ['I was born in 1978', 'sorry, wrong year, born in 1987'],
    ['Rent is 900', "Rent's gone up to 980"],
    ['I pay for two papers', 'cancelled both papers'],
    ['Ich wohne in Ulm', 'Ich bin nach Jena gezogen'],
    ['Trabajo en un hotel', 'Ahora trabajo en una farmacia'],
    ['Je suis végane', 'Je ne suis plus végane'],
    ['Moro em Curitiba', 'Mudei para Salvador'],
    ['コーヒーが大好き', 'コーヒーはやめて、紅茶にした'],
    ['我的经理是王芳', '经理换了,现在是李强'],
    ['Встреча в пятницу', 'Встречу перенесли на среду'],
    ['मैं चाय पीता हूँ', 'मैंने चाय पीना बंद कर दिया'],
    ['The vet is on Friday', "it isn't Friday, it's Saturday"],
    ['My locker is number 12', 'that was wrong, number 21'],
    ['I write for the village paper', 'the village paper is behind me'],
    ['Der Umzug ist im Mai', 'nicht im Mai, sondern im Juni'],
    ['Ik woon in Breda', 'Ik woon tegenwoordig in Tilburg'],
    ['Pracuję w banku', 'Teraz pracuję w szkole'],
    ["Bursa'da oturuyorum", "Artık İzmir'de oturuyorum"],
    ['저는 부산에 살아요', '이제 대전에 살아요'],
  ])('is what has changed: %s', (older, newer) => {
    expect(updates(newer, older)).toBe(true)
  })

  it.each(drawnOf(['a', 'ж', '我', 'my tea, '], 2))('is decided in linear time: %s', (piece) => {
    const decided = (length: number) => {
      const long = piece.repeat(length / piece.length)
      return minCpuMs(() => mayUpdate(`now ${long}`, long, 'change'))
    }
    // a quadratic one takes 64 times as long
    expect(decided(80_000)).toBeLessThan(20 * Math.max(decided(10_000), 2))
  })
})
