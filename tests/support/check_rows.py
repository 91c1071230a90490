#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every row of the instruction table has a test of its results.

ROWS names one test for each opcode; its expected values come from code independent of the models
(plain scalar C++, or literal bytes in the test). Each opcode of models/neuron_isa/instructions/table.cpp must
be listed, its test must exist, the test's file must build the instruction, and the test must
compare something. Prints rows that violate this and fails; --list prints all.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["tests/unit/neuron_core/engines", "tests/unit/neuron_core/sequencer"]

CONTROL, LANES, VECTOR, GPSIMD = "ControlInstructions", "LanesTest", "VectorTest", "GpsimdTest"
ROWS = {
    "nop": f"{CONTROL}.NopOnlyWaitsAndUpdates",
    "halt": f"{CONTROL}.HaltEndsTheProgramKeepsThePcAndNotifiesItsCode",
    "event_semaphore": f"{CONTROL}.EventSemaphoreWaitsForAllItsConditionsThenUpdates",
    "drain": f"{CONTROL}.DrainWaitsForTheInstructionsBefore",
    "write": f"{CONTROL}.WritePostsItsWordsInOrderWithRegistersZeroExtended",
    "notify": f"{CONTROL}.NotifySendsItsPayloadOrARegister",
    "reg_move": f"{CONTROL}.RegMoveTakesARegisterOrAnImmediate",
    "reg_alu": f"{CONTROL}.RegAluComputesSigned32BitIntegersModulo2To32",
    "reg_load": f"{CONTROL}.RegLoadConvertsToIntegersAndKeepsFp32Bits",
    "reg_store": f"{CONTROL}.RegStoreTakesLowBitsOrConvertsFp32Bits",
    "branch": f"{CONTROL}.BranchComparesSignedAndCountsWordsFromItself",
    "loop": f"{CONTROL}.LoopStepsUntilItsLimit",
    "call": f"{CONTROL}.CallAndReturnUseARegister",
    "return_": f"{CONTROL}.CallAndReturnUseARegister",
    "flush": f"{CONTROL}.AChangedProgramIsSeenAfterFlushOnly",
    "delay": f"{CONTROL}.DelayTakesItsCycles",
    "rank": "NumberedCore.RankReadsWhereAndWhenTheProgramRuns",
    "dma_start": "CoreWithRings.DmaStartRingsTheDoorbellsOfEachEngineInItsMask",
    "dge_copy": "DgeCopy.EachEngineMovesItsShareAndAddsOneToTheSemaphore",
    "dma_gather": "RowTransfers.GatherBringsTheRowOfEachIndexThroughAllEngines",
    "dma_scatter": "RowTransfers.ScatterWritesEachPartitionsRows",
    "dma_gather_transpose": "RowTransfers.GatherTransposePutsElementsOnPartitions",
    "load_stationary": "TensorTest.ProductsOfAllFloatTypesAddUpInPartitionOrder",
    "multiply": "TensorTest.ProductsOfAllFloatTypesAddUpInPartitionOrder",
    "copy": f"{LANES}.CopyConvertsEveryTypeToEveryOther",
    "memset": f"{LANES}.MemsetConvertsItsImmediateToTheDestination",
    "copy_predicated": f"{LANES}.CopyPredicatedWritesOnlyWhereThePredicateSays",
    "tensor_tensor": f"{LANES}.TensorTensorHasEveryArithmeticOperatorInFp32",
    "tensor_scalar": f"{LANES}.TensorScalarHasTwoOperatorsAndTheirReverses",
    "scalar_tensor_tensor": f"{LANES}.ScalarTensorTensorAppliesTheScalarFirst",
    "tensor_reduce": f"{LANES}.TensorReduceReducesTheFastestDimensionsInOrder",
    "tensor_scalar_reduce": f"{LANES}.AccumulatorsLiveBetweenInstructions",
    "tensor_scalar_cumulative": f"{LANES}.TensorScalarCumulativeIsARunningReduction",
    "tensor_tensor_scan": f"{LANES}.TensorTensorScanIsALinearRecurrence",
    "read_accumulator": f"{LANES}.AccumulatorsLiveBetweenInstructions",
    "transpose_32": f"{VECTOR}.TransposeExchangesPartitionsAndElementsOfEachBlock",
    "shuffle": f"{VECTOR}.ShuffleMovesPartitionsWithinEachQuadrant",
    "reciprocal": f"{LANES}.ReciprocalIsCorrectlyRounded",
    "exponential": f"{VECTOR}.ExponentialSubtractsTheMaximumAndAccumulates",
    "bn_stats": f"{VECTOR}.BnStatsDescribesEvenAndOddElements",
    "bn_aggr": f"{VECTOR}.BnAggrCombinesTriples",
    "max8": f"{VECTOR}.Max8SortsTheLargestAndLeavesNansLast",
    "match_load": f"{VECTOR}.FindIndex8TakesEachElementOnce",
    "find_index8": f"{VECTOR}.FindIndex8TakesEachElementOnce",
    "match_replace8": f"{VECTOR}.MatchReplace8WorksBackwardsAndReportsIndices",
    "range_select": f"{VECTOR}.RangeSelectKeepsElementsWhoseIndexIsInRange",
    "select_reduce": f"{VECTOR}.SelectReduceTakesTheElementOrTheScalar",
    "dropout": f"{VECTOR}.DropoutDropsOrKeepsByItsRate",
    "rng": f"{VECTOR}.RngOfV4HasFourXorwowGeneratorsPerLane",
    "rand2": f"{VECTOR}.Rand2IsUniformBetweenItsLimits",
    "set_rng_seed": f"{VECTOR}.RngOfV3IsAnLfsrPerLaneThatSeedsAgain",
    "rand_set_state": f"{VECTOR}.GeneratorStatesAreSavedAndRestored",
    "rand_get_state": f"{VECTOR}.GeneratorStatesAreSavedAndRestored",
    "quantize_mx": f"{VECTOR}.QuantizeMxScalesGroupsOfEightPartitionsTimesFour",
    "activate": "ScalarTest.ActivateScalesThenAddsThenAppliesTheFunction",
    "activate2": "ScalarTest.Activate2HasTwoOperatorsBeforeTheFunction",
    "load_table": "EngineTimes.AFunctionOfAnotherSetCostsAMicrosecondUnlessItsTableIsLoaded",
    "iota": f"{GPSIMD}.IotaCountsInFourDimensionsAndWraps",
    "affine_select": f"{GPSIMD}.AffineSelectComparesThePatternWithZero",
    "local_gather": f"{GPSIMD}.LocalGatherSharesIndicesAmongSixteenPartitions",
    "gather_n": f"{GPSIMD}.GatherNTakesElementsOfItsOwnPartition",
    "partition_reduce": f"{GPSIMD}.PartitionReduceGoesInPartitionOrder",
    "sequence_bounds": f"{GPSIMD}.SequenceBoundsFindsTheRunAroundEachElement",
    "nonzero_count": f"{GPSIMD}.NonzeroCountListsIndicesOnTheFirstPartitionOfEachProcessor",
    "topk": f"{GPSIMD}.TopkIsAscendingAndPutsTheLowerIndexOfEqualsLast",
    "pool_call": "NativeFunctionTest.CumulativeSumRoundsAfterEachElement",
}

ROW = re.compile(r'\{\.number = (\d+),\s*\.opcode = o::(\w+),\s*\.mnemonic = "(\w+)"')
TEST = re.compile(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\) \{\n(.*?)^\}", re.M | re.S)
COMPARES = re.compile(r"\b(EXPECT|ASSERT)_(EQ|NEAR|TRUE|THAT|GT|LT|FLOAT_EQ)\(|\bexpect_\w+\(")


def tests():
    """Test name -> (body, text of its file)."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.cpp")):
            text = path.read_text()
            for suite, name, body in TEST.findall(text):
                found[f"{suite}.{name}"] = (body, text)
    return found


def problem_of(opcode, mnemonic, known):
    if opcode not in ROWS:
        return "is not listed in check_rows.py"
    if ROWS[opcode] not in known:
        return f"there is no test {ROWS[opcode]} in {' or '.join(FOLDERS)}"
    body, text = known[ROWS[opcode]]
    if f"opcode::{opcode}" not in text and not re.search(rf"\b{mnemonic}\b|\\n{mnemonic}\b", text):
        return f"the file of {ROWS[opcode]} does not build it"
    return None if COMPARES.search(body) else f"{ROWS[opcode]} compares nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the test of each row")
    wanted = parser.parse_args()
    table = ROW.findall((ROOT / "models/neuron_isa/instructions/table.cpp").read_text())
    numbers = {int(number) for number, _, _ in table}
    if numbers != set(range(1, len(numbers) + 1)) or not table:
        sys.exit("models/neuron_isa/instructions/table.cpp: its rows were not found: has its form changed?")
    known = tests()
    problems = []
    for number, opcode, mnemonic in table:
        problem = problem_of(opcode, mnemonic, known)
        if problem:
            problems.append(f"row {number} ({mnemonic}): {problem}")
        elif wanted.list:
            print(f"{number:>2} {mnemonic}: {ROWS[opcode]}")
    unknown = set(ROWS) - {opcode for _, opcode, _ in table}
    problems += [f"check_rows.py: the table has no {opcode}" for opcode in sorted(unknown)]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(table)} opcodes of {len(numbers)} rows: each has a test of its results")


if __name__ == "__main__":
    main()
