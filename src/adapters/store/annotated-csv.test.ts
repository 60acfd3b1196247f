import { expect, test } from "vitest";
import { parseAnnotatedCsv } from "./annotated-csv.ts";

test("two results with different columns, defaults, quotes and empty cells", () => {
  const text = [
    "#datatype,string,long,string,double",
    "#group,false,false,true,false",
    "#default,sums,,,",
    ",result,table,episode,_value",
    ",,0,e-1,2.5",
    ",,1,e-2,",
    "",
    "#datatype,string,long,dateTime:RFC3339,string,long",
    "#group,false,false,false,false,false",
    "#default,_result,,,,",
    ",result,table,_time,text,count",
    ',,0,2023-11-14T22:13:20.000000001Z,"a ""b"", c",7',
    "",
    "",
  ].join("\r\n");
  expect(parseAnnotatedCsv(text)).toEqual([
    { result: "sums", values: { result: "sums", table: 0, episode: "e-1", _value: 2.5 } },
    { result: "sums", values: { result: "sums", table: 1, episode: "e-2", _value: null } },
    {
      result: "_result",
      values: { result: "_result", table: 0, _time: "2023-11-14T22:13:20.000000001Z", text: 'a "b", c', count: 7 },
    },
  ]);
});

test("an empty answer has no rows", () => {
  expect(parseAnnotatedCsv("\r\n")).toEqual([]);
  expect(parseAnnotatedCsv("")).toEqual([]);
});
