"""Adjectives, adverbs, time expressions and numbers, as tables.

Adjectives: `german (comparative superlative) = english | order | noun classes`; the order letter is
o(pinion), s(ize), a(ge) or c(olour) and sorts adjectives before a noun; a class after `-` is excepted. An
adjective with several meanings has several lines: the noun decides (scharfes Messer, scharfe Suppe). A stem
after a comma takes the endings (teuer,teur-), a `!` takes none. Adverbs: `@` gives the place of a
translation: `m` by the verb, `i` first, `e` last, `n` last and with not; others stand last or first.
"""

from __future__ import annotations

__all__ = [
    "ADJECTIVES",
    "CONDITIONS",
    "MANNERS",
    "MONTHS",
    "NUMBERS",
    "SEASONS",
    "SENTENCE_ADVERBS",
    "TIMES",
    "WEEKDAYS",
]

ADJECTIVES = """
alt (älter ältest) = old | a | town-place role prof -young -learn -photo benchsense adult animal text thing
    building vehicle furniture plant
neu (neuer neuest) = new | a | prof chief town-place school-place work-place thing -photo -gift -letter book
    paper clothes vehicle furniture device show plan idea rule job room
jung (jünger jüngst) = young | a | role prof -kid -old animal
klein (kleiner kleinst) = little | s | kid animal sib
klein (kleiner kleinst) = small | s | town-place work-place building room furniture vehicle key gadget
    coloured mistake plant castle gift
groß (größer größt) = big/large | s | building room furniture vehicle carry animal -wild ladder tree plant
    team
groß (größer größt) = big | s | solve mistake diff party
groß (größer größt) = tall | s | adult sport learn
gut (besser best) = good | o | book opus film idea plan teach food drink exam talk dishsense recipe
schön (schöner schönst) = beautiful/lovely | o | building clothes flower song room trip castle bouquet
schön (schöner schönst) = nice/lovely | o | party present gift photo furniture
nett (netter nettest) = nice/kind | o | role -crook prof neighbour colleague boss
freundlich (freundlicher freundlichst) = friendly | o | role -crook prof neighbour colleague pet
klug (klüger klügst) = clever/smart | o | role prof kid -crook
berühmt (berühmter berühmtest) = famous | o | artist writer book film building
faul (fauler faulst) = lazy | o | learn pet
faul (fauler faulst) = rotten | o | fruit
fleißig (fleißiger fleißigst) = hard-working/diligent | o | learn farm craft gardening
arm (ärmer ärmst) = poor | o | man woman farm
reich (reicher reichst) = rich/wealthy | o | man woman customer
streng (strenger strengst) = strict | o | teach parent chief judge
ehrlich (ehrlicher ehrlichst) = honest | o | role -crook -kid prof
höflich (höflicher höflichst) = polite | o | waiter kid customer guest
geduldig (geduldiger geduldigst) = patient | o | teach med
schwer (schwerer schwerst) = heavy | s | carry furniture tool
schwer (schwerer schwerst) = difficult/hard | o | hardwork exam sentence decision
schwer (schwerer schwerst) = difficult | o | book opus -story
schwer (schwerer schwerst) = serious | o | accident
leicht (leichter leichtest) = light | s | carry
leicht (leichter leichtest) = easy | o | hardwork exam
scharf (schärfer schärfst) = sharp | o | knife
scharf (schärfer schärfst) = spicy/hot | o | hotfood dishsense
süß (süßer süßest) = sweet | o | fruit sweet
süß (süßer süßest) = cute | o | pet
dick (dicker dickst) = thick | s | book warm
dick (dicker dickst) = fat | s | animal
dünn (dünner dünnst) = thin | s | book paper
hoch,hoh- (höher höchst) = high | s | bill
hoch,hoh- (höher höchst) = tall/high | s | build grow
hell (heller hellst) = bright | o | room onoff
hell (heller hellst) = light | c | wash
dunkel,dunkl- (dunkler dunkelst) = dark | o | room wash
teuer,teur- (teurer teuerst) = expensive | o | clothes buy -book -paper vehicle -public furniture rent
billig (billiger billigst) = cheap | o | clothes buy -book -paper rent
spannend (spannender spannendst) = exciting/thrilling | o | book film match story
langweilig (langweiliger langweiligst) = boring | o | book film show lesson talk
interessant (interessanter interessantest) = interesting | o | text -bill -contract -form show question idea
    talk culture
lang (länger längst) = long | s | letter -postcard text trip talk film coat meeting queue
kurz (kürzer kürzest) = short | s | letter text trip talk film skirt
wichtig (wichtiger wichtigst) = important | o | contract news letter hardwork meeting decision exam doc key
    plan
lustig (lustiger lustigst) = funny | o | story film kid
frisch (frischer frischest) = fresh | o | fruit massfood veg drink
heiß (heißer heißest) = hot | o | hotfood hot
kalt (kälter kältest) = cold | o | drink
lecker (leckerer leckerst) = delicious/tasty | o | food -noeat sweet
reif (reifer reifst) = ripe | o | fruit
warm (wärmer wärmst) = warm | o | warm
kaputt (kaputter kaputtest) = broken | o | device -onlydef lock switch tap window drive ride
schnell (schneller schnellst) = fast | o | drive ride boat public sport
langsam (langsamer langsamst) = slow | o | vehicle
bequem (bequemer bequemst) = comfortable | o | chair sofa armchair bed shoe trousers
modern (moderner modernst) = modern | a | work-place building furniture device vehicle
rot (roter rotest) = red | c | clothes -brille -jewel benchsense vehicle -public flower furniture coloured
    door
blau (blauer blauest) = blue | c | clothes -jewel vehicle -public furniture coloured door
grün (grüner grünst) = green | c | benchsense clothes -jewel furniture vehicle -public door coloured
weiß (weißer weißest) = white | c | clothes -jewel wall vehicle -public animal furniture
schwarz (schwärzer schwärzest) = black | c | clothes -jewel vehicle -public animal furniture coloured
gelb (gelber gelbst) = yellow | c | clothes -jewel flower furniture
grau (grauer grauest) = grey | c | clothes -jewel animal furniture
braun (brauner braunst) = brown | c | clothes -jewel animal furniture
rosa! = pink | c | flower clothes -jewel -warm
hungrig (hungriger hungrigst) = hungry | o | animal kid
wild = wild | o | wild
gefährlich (gefährlicher gefährlichst) = dangerous | o | snake wild
unbekannt (unbekannter unbekanntest) = unknown | o | artist writer
gründlich (gründlicher gründlichst) = thorough | o | med
erfahren (erfahrener erfahrenst) = experienced | o | prof -learn chief
begabt (begabter begabtest) = gifted/talented | o | artist learn
bekannt (bekannter bekanntest) = well-known | o | artist writer judge film
schmutzig (schmutziger schmutzigst) = dirty | o | wash polish window wipe
sauber (sauberer saubersten) = clean | o | wash window
gemütlich (gemütlicher gemütlichst) = cosy | o | room
ruhig (ruhiger ruhigst) = quiet | o | room trip kid
laut (lauter lautest) = loud/noisy | o | party kid
jüngere = younger | a | sib
ältere = older/elder | a | sib
einfach (einfacher einfachst) = simple/easy | o | hardwork recipe
seltsam (seltsamer seltsamst) = strange/odd | o | story idea question
traurig (trauriger traurigst) = sad | o | story film song
nützlich (nützlicher nützlichst) = useful | o | tool book present
saftig (saftiger saftigst) = juicy | o | fruit
stark (stärker stärkst) = strong | o | hot sport
tief (tiefer tiefst) = deep | s | lake
"""

MANNERS = """
speed: schnell = quickly / fast ; langsam = slowly
care: vorsichtig = carefully / with care ; sehr vorsichtig = very carefully
thorough: sorgfältig = carefully / thoroughly ; gründlich = thoroughly
still: geduldig = patiently ; heimlich = secretly ; leise = quietly
rain: stark = heavily / hard ; leicht = lightly
quiet: leise = quietly / softly ; laut = loudly
patient: geduldig = patiently ; ruhig = calmly
kind: freundlich = in a friendly way / kindly ; geduldig = patiently ; höflich = politely ; ruhig = calmly
know: gut = well ; sehr gut = very well ; ziemlich gut = quite well
well: gut = well ; schlecht = badly ; sehr gut = very well ; wunderbar = wonderfully / beautifully
well: ziemlich gut = quite well
hard: fleißig = hard / diligently ; hart = hard ; viel = a lot ; ernsthaft = seriously
sleep: gut = well ; fest = soundly / deeply ; schlecht = badly ; ruhig = peacefully
alone: allein = alone / on {own} own
early: früh = early ; spät = late ; sehr früh = very early ; pünktlich = on time / punctually
secret: heimlich = secretly ; plötzlich = suddenly
happy: fröhlich = happily / cheerfully ; zufrieden = contentedly
long: lange = for a long time ; stundenlang = for hours ; eine Stunde lang = for an hour
long: zwei Stunden lang = for two hours
"""

SENTENCE_ADVERBS = """
any: wahrscheinlich = probably @m ; vielleicht = maybe @i / perhaps @i
any: natürlich = of course @i / naturally @i ; sicher = certainly @m / surely @m
any: offenbar = apparently @i / obviously @m
sad: leider = unfortunately @i / sadly @i
done: zum Glück = luckily @i / fortunately @i ; endlich = finally @m / at last @i
done: tatsächlich = actually @m / really @m
"""

TIMES = """
past: gestern = yesterday ; gestern Abend = yesterday evening / last night ; letzte Woche = last week
past: heute Morgen = this morning
past far: letztes Jahr = last year ; letzten Monat = last month
past: vorgestern = the day before yesterday ; am Wochenende = at the weekend / on the weekend
past: vor kurzem = recently / a short while ago
was: damals = back then / at that time ; früher = in the past @e / before @e ; letztes Jahr = last year
was: als Kind = as a child
past: gestern Nachmittag = yesterday afternoon ; neulich = the other day
past: in der Nacht = during the night / in the night
fut: morgen = tomorrow ; bald = soon @e ; nächste Woche = next week ; heute Abend = tonight / this evening
fut: morgen früh = tomorrow morning
fut far: nächstes Jahr = next year ; nächsten Monat = next month
fut: übermorgen = the day after tomorrow ; am Wochenende = at the weekend / on the weekend
fut: später = later ; morgen Abend = tomorrow evening ; am Nachmittag = in the afternoon
hab: jeden Tag = every day ; oft = often @m ; immer = always @m ; manchmal = sometimes @m
hab: jeden Morgen = every morning
hab: selten = rarely @m / seldom @m ; meistens = usually @m / mostly @m
hab: am Wochenende = at weekends / on weekends
hab: jede Woche = every week ; abends = in the evening / in the evenings
hab: normalerweise = normally @m / usually @m
hab: nie = never @m ; morgens = in the morning / in the mornings
hab: nachmittags = in the afternoon / in the afternoons
hab: fast jeden Tag = almost every day ; zweimal in der Woche = twice a week
hab: einmal im Monat = once a month ; regelmäßig = regularly
hab: fast nie = hardly ever @m / almost never @m ; nach der Arbeit = after work
hab: vor dem Frühstück = before breakfast
short: seit einer Stunde = for an hour ; seit zwei Stunden = for two hours ; seit gestern = since yesterday
short: seit heute Morgen = since this morning ; seit drei Stunden = for three hours
short: seit Stunden = for hours
since: seit einem Jahr = for a year / for one year ; seit langem = for a long time
since: seit letztem Sommer = since last summer
now: gerade = right now / at the moment / just now ; jetzt = now / right now
now: im Moment = at the moment / right now
now: im Augenblick = at the moment ; heute = today
perf: schon = already @m ; gerade = just @m ; bereits = already @m ; noch nicht = yet @n ; heute = today
often: schon einmal = before @e / once before @e ; noch nie = never @m ; schon oft = often @m
often: schon dreimal = three times already @e
often: in letzter Zeit = lately / recently ; schon mehrmals = several times @e
"""

WEEKDAYS = """
Montag = Monday ; Dienstag = Tuesday ; Mittwoch = Wednesday ; Donnerstag = Thursday ; Freitag = Friday
Samstag = Saturday ; Sonntag = Sunday
"""
MONTHS = """
Januar = January ; Februar = February ; März = March ; April = April ; Mai = May ; Juni = June ; Juli = July
August = August ; September = September ; Oktober = October ; November = November ; Dezember = December
"""
SEASONS = "Sommer = summer ; Winter = winter ; Herbst = autumn / fall ; Frühling = spring"

NUMBERS = """
zwei = two ; drei = three ; vier = four ; fünf = five ; sechs = six ; sieben = seven ; acht = eight
neun = nine ; zehn = ten
elf = eleven ; zwölf = twelve ; dreizehn = thirteen ; vierzehn = fourteen ; fünfzehn = fifteen
sechzehn = sixteen
siebzehn = seventeen ; achtzehn = eighteen ; neunzehn = nineteen ; zwanzig = twenty ; dreißig = thirty
vierzig = forty
fünfzig = fifty ; sechzig = sixty ; siebzig = seventy ; achtzig = eighty ; neunzig = ninety
"""

CONDITIONS = """
traurig = sad ; nervös = nervous ; glücklich = happy ; enttäuscht = disappointed ; wütend = angry / furious
allein = alone
zufrieden = satisfied / content ; verliebt = in love ; aufgeregt = excited ; überrascht = surprised
neugierig = curious ; stolz = proud
"""
