import type { Random } from '../scripts/random.js';

/*
 * Text that compresses like text: sentences of varied form over a vocabulary of some five hundred words, with figures and
 * names in between. What repeats in real applications (system prompts, tool schemas, the history of a conversation)
 * repeats here too, because callers repeat it, not because the vocabulary is small.
 */

const list = (text: string) => text.trim().split(/\s+/);

const NOUNS = list(`
account address agreement alert amount analysis answer appointment archive article assistant attachment audit backup
balance bandwidth battery benefit bill booking branch budget bundle cable calendar campaign cancellation capacity card
carrier catalog category certificate change channel charge checklist claim client clinic code colleague commission
company comparison complaint condition confirmation connection consent contact contract conversion copy coupon course
coverage credit currency customer customs dashboard database date deadline debt decision defect delay delivery deposit
description desk detail device diagnosis difference discount dispute distance district document domain draft driver
duplicate edition effort employee endpoint engine entry envelope equipment error estimate event evidence example
exception exchange expense export extension factory failure feature fee field figure file filter finding firmware flight
folder forecast form formula fraction freight function gateway guarantee guide handler hardware headline holiday host
hotel household identity image import improvement incident income index influence ingredient inquiry inspection
instance instruction insurance interest interface interval inventory invoice issue item journey keyboard label language
laptop ledger lesson letter license limit link loan location lock logbook loss luggage machine manager manual manufacturer
margin market material measure meeting member memory merchant message meter method migration mileage milestone minute
mistake model module mortgage motor network notice number object obligation offer office opening operator opinion option
order outage outcome outlet output overview owner package page panel paragraph parcel part partner passage passenger
password payment payroll penalty pension performance period permission phone picture pipeline plan platform point policy
portal position power premium price printer priority procedure process product profile profit programme progress project
promise proof property proposal prospect protocol provider purchase purpose quality quantity quarter query question queue
quota quote radius range rate reason receipt recipe record recovery reference refund region register regulation reminder
renewal rent repair replacement report request requirement reservation resolution resource response restaurant result
return revenue review reward risk road role roof room route row rule salary sample schedule schema score screen season
seat section sector segment seller sensor sequence server service session setting shift shipment shop signal signature
site size skill software solution source specification spreadsheet stage standard statement station statistic status
stock storage store street string structure subject subscription suggestion summary supplier support surface survey
switch symptom system table target task tax team technician template tenant term terminal test threshold ticket timeline
title token tool topic total trace track trade training transaction transfer translation transport trial trip unit update
upgrade usage user utility validation value variant vehicle vendor version visit volume voucher warehouse warning
warranty website week weight window word workflow workshop year zone`);

const VERBS = list(`
accepts adds adjusts affects allows answers applies approves arranges assigns attaches avoids blocks books builds
calculates cancels causes changes charges checks clears closes collects combines compares completes confirms connects
considers contains controls converts copies corrects counts covers creates cuts decides declines defines delays deletes
delivers describes detects determines drops enables ends ensures enters estimates examines excludes explains exports
extends fails fetches fills finds finishes fixes follows forwards generates gives groups handles helps holds identifies
ignores imports improves includes increases indicates informs inspects keeps limits links lists loads locates logs loses
maintains manages marks matches measures merges mentions monitors moves needs notifies offers opens orders organises
overrides pauses pays performs picks plans posts prefers prepares presents prevents prints produces promises proposes
protects proves provides publishes raises reaches reads rebuilds receives recommends records reduces refers refuses
registers rejects releases reminds removes renews repeats replaces reports requires reserves resets resolves restarts
restores retries returns reveals reviews schedules searches selects sends separates sets shares ships shows signs skips
solves sorts splits starts stops stores submits suggests supports suspends tests tracks transfers translates triggers
updates uploads uses validates verifies waits warns writes`);

const ADJECTIVES = list(`
accurate active additional affected annual automatic available average basic brief broken central cheap clear common
complete complex correct critical current daily damaged delayed detailed different digital direct domestic double early
eligible empty entire exact expensive expired external fast final first fixed flexible foreign formal former free
frequent full general genuine global healthy heavy helpful hidden high immediate important incomplete incorrect
independent individual initial inner internal international invalid joint large late latest legal light likely limited
local long lower main major manual maximum medical minimum minor missing mobile modern monthly narrow national necessary
new next normal obvious official old open optional original outdated overdue paid partial past pending permanent personal
physical possible previous primary prior private probable proper public quick rare ready recent regional regular related
relevant reliable remote repeated responsible safe secondary secure senior separate serious several shared short
significant similar simple single slow small sound special specific stable standard steady strict strong sudden suitable
technical temporary third total true typical unclear unexpected unique unpaid urgent useful usual valid various
visible weekly wide wrong yearly`);

const LINKS = list(`because although while unless before after since until whenever if once so`);
const PLACES = list(`
Amsterdam Ankara Antwerp Athens Austin Barcelona Basel Bergen Berlin Bilbao Bologna Bordeaux Boston Bratislava Bremen
Bristol Brussels Budapest Cardiff Chicago Cologne Copenhagen Cork Dakar Denver Dresden Dublin Edinburgh Florence Gdansk
Geneva Ghent Glasgow Graz Hamburg Helsinki Innsbruck Izmir Kaunas Lagos Leeds Leipzig Lisbon Ljubljana London Lyon Madrid
Malmo Manchester Marseille Milan Montreal Munich Nairobi Nantes Naples Oslo Oxford Paris Porto Prague Riga Rome Rotterdam
Salzburg Seattle Seoul Seville Sofia Stockholm Tallinn Tampere Toronto Toulouse Turin Utrecht Valencia Vienna Vilnius
Warsaw Zagreb Zurich`);
const NAMES = list(`
Adele Amara Anders Aylin Beatriz Bogdan Carla Chidi Dalia Daniel Elena Emeka Farid Fiona Giulia Hana Henrik Ines Ivan
Jonas Julia Kaito Karin Leila Lukas Mara Mateo Mina Nadia Nils Olga Omar Paula Pedro Priya Rafael Rosa Sami Sofia Stefan
Tariq Tessa Tomas Ulrike Vera Viktor Wei Yara Yusuf Zoe`);
const MONTHS = list(`January February March April May June July August September October November December`);

type Sentence = (random: Random) => string;

const noun = (random: Random) => random.pick(NOUNS);
const verb = (random: Random) => random.pick(VERBS);
const adjective = (random: Random) => random.pick(ADJECTIVES);
const phrase: Sentence = (random) => (random.chance(0.55) ? `${adjective(random)} ${noun(random)}` : noun(random));
const article = (random: Random) =>
  random.pick(['the', 'the', 'the', 'a', 'your', 'this', 'each', 'our', 'every', 'another']);
const day = (random: Random) => `${random.whole(1, 28)} ${random.pick(MONTHS)}`;
const amount = (random: Random) => `${random.whole(3, 940)}.${String(random.whole(0, 99)).padStart(2, '0')} EUR`;
const code = (random: Random) =>
  `${random.pick(['ORD', 'INV', 'TCK', 'RMA', 'POL'])}-${random.whole(100_000, 999_999)}`;

const STATEMENTS: readonly Sentence[] = [
  (r) => `${article(r)} ${phrase(r)} ${verb(r)} ${article(r)} ${phrase(r)}`,
  (r) =>
    `${article(r)} ${noun(r)} ${verb(r)} ${article(r)} ${phrase(r)} ${r.pick(LINKS)} ${article(r)} ${noun(r)} ${verb(r)} ${article(r)} ${phrase(r)}`,
  (r) =>
    `on ${day(r)} ${article(r)} ${phrase(r)} for ${code(r)} was ${adjective(r)}, and ${article(r)} ${noun(r)} ${verb(r)} ${amount(r)}`,
  (r) => `${r.pick(NAMES)} from ${r.pick(PLACES)} ${verb(r)} ${article(r)} ${phrase(r)} within ${r.whole(2, 90)} days`,
  (r) =>
    `there is ${r.pick(['a', 'no', 'one', 'another'])} ${phrase(r)} in ${article(r)} ${noun(r)} of ${r.pick(PLACES)} that ${verb(r)} ${article(r)} ${noun(r)}`,
  (r) => `compared with last ${noun(r)}, ${article(r)} ${noun(r)} is ${r.whole(2, 75)} percent ${adjective(r)}`,
  (r) =>
    `for ${phrase(r)}, ${noun(r)} and ${noun(r)}, ${article(r)} ${noun(r)} ${verb(r)} ${article(r)} ${adjective(r)} ${phrase(r)}`,
  (r) =>
    `please note that ${article(r)} ${noun(r)} ${verb(r)} only ${r.pick(LINKS)} ${article(r)} ${phrase(r)} ${verb(r)} it`,
];

const QUESTIONS: readonly Sentence[] = [
  (r) => `why does ${article(r)} ${phrase(r)} of ${code(r)} ${noun(r)} ${article(r)} ${noun(r)} since ${day(r)}`,
  (r) => `can you tell me which ${phrase(r)} ${verb(r)} ${article(r)} ${phrase(r)} in ${r.pick(PLACES)}`,
  (r) =>
    `how do I get ${article(r)} ${phrase(r)} of ${amount(r)} back ${r.pick(LINKS)} ${article(r)} ${noun(r)} ${verb(r)} it`,
  (r) => `what is the ${adjective(r)} way to change ${article(r)} ${noun(r)} for ${r.pick(NAMES)} before ${day(r)}`,
  (r) => `where can I find ${article(r)} ${phrase(r)} that ${verb(r)} ${article(r)} ${noun(r)}`,
];

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Sentences until they are at least `length` characters long. */
export function prose(random: Random, length: number): string {
  let text = '';
  while (text.length < length) {
    const gap = text === '' ? '' : random.chance(0.12) ? '\n\n' : ' ';
    text += `${gap}${capital(random.pick(STATEMENTS)(random))}.`;
  }
  return text;
}

/** A question of a user, made of random phrases. */
export function question(random: Random): string {
  const context = random.chance(0.5) ? `${capital(random.pick(STATEMENTS)(random))}. ` : '';
  return `${context}${capital(random.pick(QUESTIONS)(random))}?`;
}

/** A few words, as somebody types into a search box. */
export function searchTerms(random: Random): string {
  return `${phrase(random)} ${noun(random)} ${random.pick(PLACES)}`;
}

export function personName(random: Random): string {
  return random.pick(NAMES);
}

export const reference = code;
