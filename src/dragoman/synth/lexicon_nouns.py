"""Nouns and names, as tables.

A section `[class …]` gives the semantic classes of its entries; most frequent entries come first. An entry is
`article Noun, Plural = english`, where

- `*` marks the n-declension, a third form is an unusual genitive, `/in` adds the regular feminine;
- a missing plural makes a mass noun, `die+` a plural-only one;
- `/` separates English synonyms; a final `!` says plural only (trousers!), `~` no plural (furniture~);
- `#class` adds classes, and a class `noX` takes the section's class X away.

A noun also belongs to the class named by its first translation. One German noun may have several entries:
its sense then shows in the company it keeps. Places add `| preposition english | preposition english` for
where and whither, a `!` after the English one drops the article. Compounds come in two lines: first parts,
then the head with its classes.
"""

from __future__ import annotations

__all__ = ["CITIES", "COMPOUNDS", "COUNTRIES", "FIRST_NAMES", "NOUNS", "PLACES", "SURNAMES"]

NOUNS = """
[rel hum]
die Mutter, Mütter = mother #parent ; der Bruder, Brüder = brother #sib ; der Vater, Väter = father #parent
die Schwester, Schwestern = sister #sib ; der Sohn, Söhne = son #young
die Tochter, Töchter = daughter #young
der Freund, Freunde = friend ; die Freundin, Freundinnen = friend ; die Frau, Frauen = wife #one
der Mann, Männer = husband #one ; die Großmutter, Großmütter = grandmother #old ; der Onkel, Onkel = uncle
der Großvater, Großväter = grandfather #old ; die Tante, Tanten = aunt ; der Nachbar*, Nachbarn = neighbour
die Nachbarin, Nachbarinnen = neighbour ; der Chef, Chefs = boss #chief
die Chefin, Chefinnen = boss #chief
der Kollege*, Kollegen = colleague ; die Kollegin, Kolleginnen = colleague
der Cousin, Cousins = cousin #sib
der Neffe*, Neffen = nephew #young ; die Nichte, Nichten = niece #young ; der Enkel, Enkel = grandson #young

[prof hum]
der Lehrer, Lehrer /in = teacher #teach ; der Arzt, Ärzte = doctor #med
die Ärztin, Ärztinnen = doctor #med
der Student*, Studenten /in = student #learn ; der Kellner, Kellner /in = waiter #waiter
der Verkäufer, Verkäufer /in = shop assistant/salesperson
der Schüler, Schüler /in = pupil/student #learn young
der Ingenieur, Ingenieure /in = engineer ; der Koch, Köche = cook/chef #cook
die Köchin, Köchinnen = cook/chef #cook
der Polizist*, Polizisten /in = police officer #cop ; der Bäcker, Bäcker /in = baker #cook
der Schauspieler, Schauspieler /in = actor #artist ; der Künstler, Künstler /in = artist #artist
der Anwalt, Anwälte = lawyer ; die Anwältin, Anwältinnen = lawyer ; der Bauer*, Bauern = farmer #farm
die Bäuerin, Bäuerinnen = farmer #farm ; der Journalist*, Journalisten /in = journalist #writer
der Musiker, Musiker /in = musician #artist ; der Schriftsteller, Schriftsteller /in = writer #writer
der Mechaniker, Mechaniker /in = mechanic #craft ; der Fotograf*, Fotografen /in = photographer #artist
der Richter, Richter /in = judge #judge ; der Gärtner, Gärtner /in = gardener #gardening
der Architekt*, Architekten /in = architect ; der Pilot*, Piloten /in = pilot
der Krankenpfleger, Krankenpfleger = nurse #med
die Krankenschwester, Krankenschwestern = nurse #med ; der Sänger, Sänger /in = singer #artist
der Maler, Maler /in = painter #artist ; der Schneider, Schneider /in = tailor #craft
der Tischler, Tischler /in = carpenter #craft ; der Zahnarzt, Zahnärzte = dentist #med
der Dolmetscher, Dolmetscher /in = interpreter ; der Fischer, Fischer = fisherman
der Briefträger, Briefträger = postman

[role hum]
der Mann, Männer = man #adult ; die Frau, Frauen = woman #adult ; das Kind, Kinder = child #young kid
der Junge*, Jungen = boy #young kid ; das Mädchen, Mädchen = girl #young kid ; der Gast, Gäste = guest
der Leiter, Leiter = manager/director #chief ; der Kunde*, Kunden = customer
die Kundin, Kundinnen = customer
der Patient*, Patienten /in = patient #ill ; der Tourist*, Touristen /in = tourist #travel
der Besucher, Besucher /in = visitor #travel ; der Direktor, Direktoren = principal/director #chief
der Herr*, Herren = gentleman #adult ; die Dame, Damen = lady #adult ; der Dieb, Diebe = thief #crook
der Spieler, Spieler /in = player #sport ; der Trainer, Trainer /in = coach #sport
der Zeuge*, Zeugen = witness ; der Mieter, Mieter /in = tenant
der Läufer, Läufer = runner #sport ; der Gegner, Gegner = opponent #opponent

[folk hum]
die+ Leute = people! ; die+ Eltern = parents! ; die+ Kinder = children! #kid young
die+ Geschwister = siblings!/brothers and sisters!
die+ Großeltern = grandparents! #old ; die+ Nachbarn = neighbours! ; die+ Gäste = guests!
die+ Schüler = pupils! #learn young

[group]
die Polizei = police! #cop ; die Regierung, Regierungen = government
die Firma, Firmen, Firma = company/firm #firm
die Bank, Banken = bank #firm bankfirm ; das Gericht, Gerichte = court #court
der Verband, Verbände = association #firm

[team]
die Mannschaft, Mannschaften = team ; der Verein, Vereine = club ; die Nationalmannschaft = national team

[animal]
der Hund, Hunde = dog #pet ; die Katze, Katzen = cat #pet ; das Pferd, Pferde = horse #farmanimal
der Vogel, Vögel = bird #wild ; die Kuh, Kühe = cow #farmanimal ; das Schaf, Schafe = sheep #farmanimal
das Huhn, Hühner = chicken #farmanimal ; der Hahn, Hähne = rooster/cock #farmanimal rooster
der Hase*, Hasen = hare #wild
die Maus, Mäuse = mouse #wild ; der Fuchs, Füchse = fox #wild ; der Bär*, Bären = bear #wild
die Ente, Enten = duck #wild
das Kaninchen, Kaninchen = rabbit #pet ; der Strauß, Strauße = ostrich #wild ostrich
das Reh, Rehe = deer~ #wild
die Schlange, Schlangen = snake #wild snake ; das Schwein, Schweine = pig #farmanimal
der Kater, Kater = tomcat #pet
die Ziege, Ziegen = goat #farmanimal ; der Affe*, Affen = monkey #wild ; die Fliege, Fliegen = fly #fly

[text thing]
das Buch, Bücher = book #portable buy present book ; der Brief, Briefe = letter #letter portable open
die Zeitung, Zeitungen = newspaper/paper #paper buy ; der Roman, Romane = novel #opus book buy
der Artikel, Artikel = article #opus news ; der Bericht, Berichte = report #opus handin
die E-Mail, E-Mails = email #letter ; die Nachricht, Nachrichten = message #letter
die Geschichte, Geschichten = story #story opus ; die Zeitschrift, Zeitschriften = magazine #paper buy
das Gedicht, Gedichte = poem #opus story ; der Vertrag, Verträge = contract #contract
das Märchen, Märchen = fairy tale #story
die Karte, Karten = postcard/card #letter postcard ; die Rechnung, Rechnungen = bill/invoice #bill
der Aufsatz, Aufsätze = essay #opus handin ; das Formular, Formulare = form #contract handin
das Rezept, Rezepte = recipe #recipe ; das Tagebuch, Tagebücher = diary
das Protokoll, Protokolle = minutes! #handin
der Satz, Sätze = sentence #sentence ; das Wörterbuch, Wörterbücher = dictionary #book buy

[show]
der Film, Filme = film/movie #film ; das Spiel, Spiele = match/game #match event
die Sendung, Sendungen = programme/show
die Serie, Serien = series #film ; das Theaterstück, Theaterstücke = play
die+ Nachrichten = news~ #tvnews onlydef

[music]
das Lied, Lieder = song #song ; das Hörbuch, Hörbücher = audiobook #song2

[food fruit count eat peel buyfood]
der Apfel, Äpfel = apple ; die Birne, Birnen = pear ; die Banane, Bananen = banana
die Orange, Orangen = orange
[food fruit count eat buyfood]
die Erdbeere, Erdbeeren = strawberry #plonly ; die Kirsche, Kirschen = cherry #plonly
der Pfirsich, Pfirsiche = peach
[food count eat cookable peel veg buyfood]
die Kartoffel, Kartoffeln = potato #boil plonly fry ; die Karotte, Karotten = carrot #boil plonly
die Zwiebel, Zwiebeln = onion #noeat fry
[food count eat dish cookable order]
das Ei, Eier = egg #boil buyfood fry plain ; der Salat, Salate = salad #salad
die Suppe, Suppen = soup #hotfood
das Gericht, Gerichte = dish/meal #hotfood dishsense ; der Eintopf, Eintöpfe = stew #hotfood
die Pizza, Pizzas = pizza #hotfood bake
[food count eat bake order buyfood sweet]
der Kuchen, Kuchen = cake ; das Eis = ice cream #nobake ; die Torte, Torten = cake
der Keks, Kekse = biscuit #plonly
der Pfannkuchen, Pfannkuchen = pancake #nobake fry
[food massfood eat buyfood]
das Brot = bread #bake slice ; der Käse = cheese #slice ; die Butter = butter #noeat
der Reis = rice #cookable boil
der Fisch = fish #fry order cookable ; das Fleisch = meat #fry cookable
das Gemüse = vegetables! #cookable fry boil
die Schokolade = chocolate #sweet bar ; der Honig = honey #sweet noeat ; der Schinken = ham #slice
das Obst = fruit #plain
die+ Nudeln = pasta~ #cookable boil order

[drink buyfood]
der Kaffee = coffee #hot cup order ; das Wasser = water #glass bottle boil order
der Tee = tea #hot cup order
das Bier = beer #glass bottle order ; der Wein = wine #glass bottle order ; die Milch = milk #glass bottle
der Saft = juice #glass bottle order ; die Limonade = lemonade #glass bottle order

[clothes thing buy portable]
das Hemd, Hemden = shirt #wash ; die Hose, Hosen = trousers!/pants! #wash
das Kleid, Kleider = dress #wash present fem
der Mantel, Mäntel = coat #warm ; die Jacke, Jacken = jacket #warm ; der Hut, Hüte = hat
der Rock, Röcke = skirt #wash fem
der Pullover, Pullover = sweater/jumper #wash warm ; der Schal, Schals = scarf #warm present
die Brille, Brillen = glasses!/spectacles! #brille nosize ; die Krawatte, Krawatten = tie #present
die Fliege, Fliegen = bow tie
der Anzug, Anzüge = suit ; die Mütze, Mützen = cap #warm ; die Bluse, Blusen = blouse #wash fem
der Schuh, Schuhe = shoe #plonly polish
die Uhr, Uhren = watch #present watch jewel ; der Ring, Ringe = ring #present jewel
die Kette, Ketten = necklace #present jewel

[portable thing small]
der Schlüssel, Schlüssel = key #key ; das Handy, Handys = phone/mobile phone #device buy gadget
die Tasche, Taschen = bag #coloured buy carry
der Regenschirm, Regenschirme = umbrella #coloured buy ; der Pass, Pässe = passport #doc
der Geldbeutel, Geldbeutel = wallet/purse #coloured money
die Kamera, Kameras = camera #buy gadget ; der Koffer, Koffer = suitcase #coloured pack open carry
der Rucksack, Rucksäcke = backpack/rucksack #coloured pack carry
das Messer, Messer = knife #knife ; der Ball, Bälle = ball #coloured toy ball
die Puppe, Puppen = doll #toy present
der Kugelschreiber, Kugelschreiber = pen #coloured ; das Foto, Fotos = photo/picture #photo
die Flasche, Flaschen = bottle #open
das Paket, Pakete = parcel/package #parcel open carry
das Geschenk, Geschenke = present/gift #open gift buy
der Führerschein, Führerscheine = driving licence #doc
die Fahrkarte, Fahrkarten = ticket/train ticket #ticket buy
das Heft, Hefte = notebook/exercise book ; die Schere, Scheren = scissors! #nosize
das Bild, Bilder = picture #portrait ; die Vase, Vasen = vase #vase present
die Kiste, Kisten = box/crate #carry open ; das Spielzeug, Spielzeuge = toy #toy present

[device home thing]
das Licht, Lichter = light #onoff onlydef
der Fernseher, Fernseher = television/TV #onoff repair buy gadget
das Radio, Radios = radio #onoff repair gadget ; der Computer, Computer = computer #onoff repair buy gadget
die Lampe, Lampen = lamp #onoff buy
die Heizung, Heizungen = heating~ #onoff repair onlydef
die Waschmaschine, Waschmaschinen = washing machine #onoff repair buy
der Herd, Herde = stove/cooker #onoff repair ; der Ofen, Öfen = oven #onoff repair
der Drucker, Drucker = printer #onoff repair gadget
der Staubsauger, Staubsauger = vacuum cleaner #onoff repair buy
die Klimaanlage, Klimaanlagen = air conditioning~ #onoff repair onlydef

[furniture thing home buy]
der Tisch, Tische = table #wipe carry ; der Stuhl, Stühle = chair #carry ; das Bett, Betten = bed
das Sofa, Sofas = sofa/couch
der Schrank, Schränke = wardrobe/cupboard #open ; das Regal, Regale = shelf ; der Sessel, Sessel = armchair
der Spiegel, Spiegel = mirror #wipe ; die Bank, Bänke = bench #paint benchsense nobuy nofurniture
die+ Möbel = furniture~ #carry
der Teppich, Teppiche = carpet/rug ; der Schreibtisch, Schreibtische = desk #wipe

[part thing]
die Tür, Türen = door #door paint repair open ; das Fenster, Fenster = window #window open repair
das Tor, Tore = gate #open paint repair gate
die Wand, Wände = wall #paint ; die Decke, Decken = ceiling #paint ceiling ; das Dach, Dächer = roof #repair
der Zaun, Zäune = fence #paint repair build ; die Treppe, Treppen = stairs! #repair
das Schloss, Schlösser = lock #repair lock

[tool thing]
die Leiter, Leitern = ladder #ladder carry ; der Hammer, Hämmer = hammer ; die Säge, Sägen = saw

[vehicle thing]
das Auto, Autos = car #drive repair buy own ; der Bus, Busse = bus #public ; der Zug, Züge = train #public
das Fahrrad, Fahrräder = bicycle/bike #ride repair buy own ; die Straßenbahn, Straßenbahnen = tram #public
das Taxi, Taxis = taxi #hire
das Schiff, Schiffe = ship #sea ; das Flugzeug, Flugzeuge = plane/aeroplane #air public
das Motorrad, Motorräder = motorcycle #ride repair buy own
das Boot, Boote = boat #sea repair buy own ; der Lastwagen, Lastwagen = lorry/truck #drive repair
die U-Bahn, U-Bahnen = underground/subway #public

[building thing]
das Haus, Häuser = house #own buyhouse build enter
die Wohnung, Wohnungen = flat/apartment #own buyhouse clean enter rent
die Kirche, Kirchen = church #visit build enter ; das Museum, Museen, Museums = museum #visit build enter
das Schloss, Schlösser = castle/palace #visit enter castle ; der Turm, Türme = tower #visit build
die Brücke, Brücken = bridge #build nosit
das Hotel, Hotels = hotel #build enter ; die Burg, Burgen = castle/fortress #visit castle
das Krankenhaus, Krankenhäuser = hospital #build enter
die Hütte, Hütten = hut/cabin #build rent ; der Dom, Dome = cathedral #visit enter

[room]
das Zimmer, Zimmer = room #clean paint rent enter
das Klassenzimmer, Klassenzimmer = classroom #clean paint ; die Küche, Küchen = kitchen #clean
das Büro, Büros = office #clean rent enter
das Wohnzimmer, Wohnzimmer = living room #clean ; das Badezimmer, Badezimmer = bathroom #clean
der Keller, Keller = cellar/basement #clean

[plant]
der Baum, Bäume = tree #cut grow ; die Blume, Blumen = flower #flower grow
die Rose, Rosen = rose #flower grow
die Kiefer, Kiefern = pine tree/pine #cut grow pine ; die Eiche, Eichen = oak tree/oak #cut grow
das Blatt, Blätter = leaf #leaf

[body]
der Kopf, Köpfe = head ; die Hand, Hände = hand #washbody ; der Fuß, Füße = foot
das Bein, Beine = leg #break
der Arm, Arme = arm #break ; der Rücken, Rücken = back ; der Zahn, Zähne = tooth
der Bauch, Bäuche = stomach
das Knie, Knie = knee ; der Finger, Finger = finger #break ; der Hals, Hälse = throat ; das Ohr, Ohren = ear
der Kiefer, Kiefer = jaw #jaw break
die Schulter, Schultern = shoulder

[event]
das Fest, Feste = party/celebration #party ; die Party, Partys = party #party
die Prüfung, Prüfungen = exam #exam ; die Hochzeit, Hochzeiten = wedding #party
der Urlaub, Urlaube = holiday #trip ; die Reise, Reisen = trip/journey #trip plan
die Sitzung, Sitzungen = meeting #meeting
das Konzert, Konzerte = concert #culture ; die Besprechung, Besprechungen = meeting #meeting
der Ausflug, Ausflüge = excursion/trip #trip plan
die Vorlesung, Vorlesungen = lecture #lesson ; der Unterricht = lessons! #lesson
die Ausstellung, Ausstellungen = exhibition #culture visit
die+ Ferien = holidays! #trip ; der Termin, Termine = appointment #appointment
das Gespräch, Gespräche = conversation/talk #talk
der Ball, Bälle = dance/ball #dance ; der Kurs, Kurse = course #lesson
die Messe, Messen = trade fair #fair ; das Abendessen = dinner #mealtime

[abstract]
das Problem, Probleme = problem #solve hardwork ; die Frage, Fragen = question #question hardwork
die Aufgabe, Aufgaben = task/exercise #solve hardwork
der Fehler, Fehler = mistake #mistake annoying ; der Plan, Pläne = plan #plan ; die Idee, Ideen = idea #idea
die Regel, Regeln = rule #rule
der Unterschied, Unterschiede = difference #rule diff
die Entscheidung, Entscheidungen = decision #decision annoying
die Antwort, Antworten = answer #answer
[abstract2]
die Rede, Reden = speech #speech talk ; die Stelle, Stellen = job/position #job
der Unfall, Unfälle = accident #accident

[generic]
das Leben = life ; die Liebe = love ; die Zeit = time #time ; die Gesundheit = health ; die Arbeit = work
die Freiheit = freedom
die Natur = nature ; die Wahrheit = truth #truth ; das Glück = happiness/luck
die Freundschaft = friendship

[sky]
die Sonne = sun #onlydef ; das Wetter = weather #onlydef #wind
[subject]
die Mathematik = mathematics/maths ; die Geschichte = history ; die Physik = physics ; die Kunst = art
die Biologie = biology
die Chemie = chemistry ; die Musik = music ; das Jura = law #univ
[language]
das Deutsch = German ; das Englisch = English ; das Französisch = French ; das Spanisch = Spanish
das Italienisch = Italian
das Russisch = Russian ; das Japanisch = Japanese ; das Polnisch = Polish
[game]
der Fußball = football/soccer #field ; das Schach = chess #board ; das Tennis = tennis #field
die+ Karten = cards! #board
der Basketball = basketball #field ; der Volleyball = volleyball #field ; das Golf = golf #field
[instrument]
das Klavier, Klaviere = piano #piano ; die Gitarre, Gitarren = guitar ; die Geige, Geigen = violin
die Flöte, Flöten = flute
die Trompete, Trompeten = trumpet ; das Schlagzeug, Schlagzeuge = drums!
[wish]
die Hilfe = help ; der Rat = advice ; die Ruhe = peace and quiet ; die Zeit = time ; das Geld = money
[measure]
die Tasse, Tassen = cup ; das Glas, Gläser = glass ; die Flasche, Flaschen = bottle
die Scheibe, Scheiben = slice ; die Tafel, Tafeln = bar

[topic]
die Politik = politics ; das Wetter = weather ; die Zukunft = future ; der Film, Filme = film/movie
die Reise, Reisen = trip
[colourless]
die Birne, Birnen = light bulb/bulb #screw ; der Hahn, Hähne = tap #tap
die Uhr, Uhren = clock #clock repair ; die Karte, Karten = map #mapsense
die Mutter, Muttern = nut #nut ; der Schalter, Schalter = switch #switch
der Strauß, Sträuße = bouquet/bunch of flowers #bouquet
die Decke, Decken = blanket #blanket ; der Ton, Töne = sound #sound
die Scheibe, Scheiben = window pane/pane #pane
die Steuer, Steuern = tax #tax
das Tor, Tore = goal #goal ; der Absatz, Absätze = paragraph #paragraph ; der Absatz, Absätze = heel #heel
die Stimme, Stimmen = voice #voice ; die Stimme, Stimmen = vote #vote ; der Stock, Stöcke = stick #stick
die Feder, Federn = feather #feather
das Blatt, Blätter = sheet of paper #sheet
der Verband, Verbände = bandage #bandage
die Stelle, Stellen = place/spot #spot ; der Schein, Scheine = banknote/note #note
"""

PLACES = """
[nature]
der Park, Parks = park | in in | in to #calm play walk
der Wald, Wälder = forest | in in | in into/to #walk wild
der Strand, Strände = beach | an on/at | an to #swimtrip play walk
der See, Seen = lake | an by/at | an to #swim fish
der Garten, Gärten = garden | in in | in into #calm play home party
die+ Berge = mountains! | in in | in to #holiday
die See = sea/seaside | an by/at | an to #holiday swim
das Land = country/countryside | auf in | auf to #holiday live
der Fluss, Flüsse = river | an by | an to #fish walk
die Wiese, Wiesen = meadow | auf in | auf onto #play animals
das Dorf, Dörfer = village | in in | in to #live
der Hof, Höfe = yard/courtyard | in in | in into #play animals
[home]
@zu Hause = at home | nach Hause = home #calm meal athome
die Küche = kitchen | in in | in into/to #kitchen meal calm
das Wohnzimmer = living room | in in | in into #calm tv
das Schlafzimmer = bedroom | in in | in into #sleep
das Bett, Betten = bed | in in! | in to! #sleep lie plain
der Balkon, Balkone = balcony | auf on | auf onto #calm meal
der Keller, Keller = cellar/basement | in in | in to #craft
die Garage, Garagen = garage | in in | in into/to #craft
[town]
das Café, Cafés = café | in in/at | in to #calm meal meet
das Restaurant, Restaurants = restaurant | in in/at | in to #meal meet
der Supermarkt, Supermärkte = supermarket | in at/in | in to #shop work
der Markt, Märkte = market | auf at | auf to #shop store
die Stadt, Städte = town/city | in in | in into/to #shop store live meet
der Bahnhof, Bahnhöfe = station/train station | an at | zu to #meet station
der Flughafen, Flughäfen = airport | an at | zu to #station
das Kino, Kinos = cinema | in at/in | in to #fun meet
das Theater, Theater = theatre | in at | in to #fun
das Museum, Museen, Museums = museum | in in/at | in to #fun
das Schwimmbad, Schwimmbäder = swimming pool | in at/in | in to #swim fun
die Kirche = church | in in/at! | in to! #plain
das Krankenhaus, Krankenhäuser = hospital | in in! | in to! #ill plain hospital
die Apotheke, Apotheken = pharmacy/chemist 's | in at | in to/in #shop
die Bäckerei, Bäckereien = bakery | in at | in to #shop
das Geschäft, Geschäfte = shop/store | in in | in into #shop store
der Zoo, Zoos = zoo | in at/in | in to #fun
die Haltestelle, Haltestellen = bus stop | an at | zu to #meet station
die Bank, Banken = bank | auf at | zu to #money
die Kneipe, Kneipen = pub/bar | in in/at | in to #meal meet
[work]
das Büro, Büros = office | in in/at | in to #job ; die Fabrik, Fabriken = factory | in in/at | in to #job
die Arbeit = work | bei at! | zu to! #plain ; das Labor, Labore = laboratory/lab | in in | in to #job
die Werkstatt, Werkstätten = workshop | in in | in to #craft job
[school]
die Schule, Schulen = school | in at! | in to! #learn plain
die Universität, Universitäten = university | an at/at! | zu to/to! #learn
die Bibliothek, Bibliotheken = library | in in | in to #calm learn
der Kindergarten, Kindergärten = nursery school/kindergarten | in at! | in to! #kid plain
"""

FIRST_NAMES = """
f Anna Maria Julia Laura Lena Sophie Katrin Petra Sabine Claudia Eva Lisa Martina
    Susanne Clara Emma Hannah Ingrid
m Peter Thomas Michael Paul Max Jonas Lukas Stefan Martin Andreas Felix Markus Jan Karl Daniel Tobias Hans Uwe
"""

SURNAMES = """
Müller Schmidt Schneider Fischer Weber Wagner Becker Hoffmann Schäfer Koch Richter Klein
Wolf Neumann Braun Krüger
"""

CITIES = """
Berlin ; Hamburg ; München = Munich ; Köln = Cologne ; Wien = Vienna ; Frankfurt ; Leipzig ; Dresden
Zürich = Zurich ; Paris ; Rom = Rome ; London ; Bremen ; Nürnberg = Nuremberg ; Prag = Prague ; Salzburg
Heidelberg ; Genf = Geneva ; Stuttgart ; Hannover = Hanover ; Venedig = Venice ; Warschau = Warsaw
Lissabon = Lisbon ; Athen = Athens ; Kopenhagen = Copenhagen ; Brüssel = Brussels ; Mailand = Milan ; Madrid
Basel ; Freiburg
"""

COUNTRIES = """
Italien = Italy ; Frankreich = France ; die Schweiz = Switzerland ; Spanien = Spain ; Österreich = Austria
Deutschland = Germany ; die Türkei = Turkey ; England ; Griechenland = Greece ; Polen = Poland
die USA = the United States ; Schweden = Sweden ; Norwegen = Norway ; Kanada = Canada
die Niederlande = the Netherlands ; Japan ; Portugal ; Irland = Ireland
"""

COMPOUNDS = """
Apfel Erdbeer Kirsch Pfirsich Orangen Birnen = apple strawberry cherry peach orange pear
der saft = juice | drink buyfood glass bottle order
Apfel Erdbeer Kirsch Pfirsich Birnen = apple strawberry cherry peach pear
der kuchen, kuchen = cake | food count eat bake order buyfood sweet
Apfel Erdbeer Kirsch Pfirsich Orangen = apple strawberry cherry peach orange
die marmelade = jam | food massfood buyfood sweet noeat
Tomaten Kartoffel Gemüse Zwiebel Hühner Fisch Linsen = tomato potato vegetable onion chicken fish lentil
die suppe, suppen = soup | food count eat dish cookable order hotfood
Kartoffel Tomaten Obst Nudel Gurken = potato tomato fruit pasta cucumber
der salat, salate = salad | food count eat dish cookable order salad
Sommer Winter Leder Regen = summer winter leather rain
die jacke, jacken = jacket | clothes thing buy portable warm
Küchen Holz Garten Ess = kitchen wooden garden dining
der tisch, tische = table | furniture thing home buy wipe
Kinder Koch Schul Bilder = children's cookery school picture
das buch, bücher = book | text thing portable buy present book
Kinder Gäste Hotel = children's guest hotel
das zimmer, zimmer = room | room clean paint
Kriminal Abenteuer Tier Zeichentrick = crime adventure nature animated
der film, filme = film/movie | show film
"""
