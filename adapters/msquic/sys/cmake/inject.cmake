# Run by CMake right after MsQuic's project() (CMAKE_PROJECT_msquic_INCLUDE). No file of
# MsQuic is changed: some functions get another name where they are defined, and our sources,
# which define them under their own names, are compiled as part of the target `core`, with
# MsQuic's headers and flags.
#
# WINDLASS_C     directory of our sources
# WINDLASS_ABI   directory of windlass_msquic.h

function(windlass_rename target source symbol)
    set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/${source} TARGET_DIRECTORY ${target}
        APPEND PROPERTY COMPILE_DEFINITIONS ${symbol}=Native${symbol})
endfunction()

function(windlass_inject)
    windlass_rename(core core/congestion_control.c QuicCongestionControlInitialize)
    windlass_rename(core core/loss_detection.c QuicLossDetectionUninitialize)
    foreach(symbol CxPlatStorageOpen CxPlatStorageClose CxPlatStorageReadValue)
        windlass_rename(msquic_platform platform/storage_posix.c ${symbol})
    endforeach()
    set(sources ${WINDLASS_C}/adapter.c ${WINDLASS_C}/file.c ${WINDLASS_C}/host.c ${WINDLASS_C}/storage.c)
    target_sources(core PRIVATE ${sources})
    set_property(SOURCE ${sources} TARGET_DIRECTORY core APPEND PROPERTY COMPILE_OPTIONS -Wall -Wextra -Werror)
    target_include_directories(core PRIVATE ${WINDLASS_C} ${WINDLASS_ABI} ${CMAKE_SOURCE_DIR}/src/core)
    if(QUIC_BUILD_SHARED)
        # In place of MsQuic's list of exports, which hides everything else.
        set_target_properties(msquic PROPERTIES
            LINK_FLAGS "-Wl,--version-script=\"${WINDLASS_C}/exports.txt\"")
    endif()
endfunction()

cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL windlass_inject)
